from __future__ import annotations

from dataclasses import replace
from typing import Any

from assay.pipeline import Stage
from assay.stages.alm.parameters import BuilderParameters, OverlapParameters
from assay.stages.alm.recording import parse_recording
from assay.stages.alm.split_summary import Curated
from assay.stages.alm.window_builder import build, filter_overlap


class ALMDataOverlapStage(Stage[Curated, Curated]):
    """Drops windows that overlap too much: of two, the one nearer to the target duration stays."""

    name = "alm_data_overlap"
    needs = frozenset({"windows"})
    adds = frozenset({"filtered_windows", "filtered", "filtered_dur"})

    def __init__(self, parameters: OverlapParameters | None = None, builder: BuilderParameters | None = None) -> None:
        self.parameters = parameters or OverlapParameters()
        self.builder = builder or BuilderParameters()

    def process(self, data: Curated) -> Curated:
        plain = {row: filter_overlap(built, self.parameters) for row, built in data.plain.items()}
        if data.native is not None:
            from assay.stages.alm.kernel import PLAIN, overlap_parameters

            if data.native.overlap(overlap_parameters(self.parameters)):
                # Spans that agree to almost six digits: only decimal rounding can tell them apart.
                for row, start, end in data.native.rows_of(PLAIN):
                    if row not in plain:
                        plain[row] = self._strict(data.lines.data[start:end])
        return replace(data, plain=dict(sorted(plain.items())))

    def _strict(self, line: bytes) -> dict[str, Any]:
        return filter_overlap(build(parse_recording(line), self.builder), self.parameters)
