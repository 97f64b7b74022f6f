from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

from assay.pipeline import Split, Writer
from assay.stages.alm.curated import Curated
from assay.stages.alm.recording import normal_form
from assay.stages.alm.split_summary import SplitSummary, summarise


class ALMJsonlWriter(Writer[Curated]):
    """One JSON object a line, exactly as `json.dumps(…, ensure_ascii=False)` writes it."""

    name = "alm_jsonl_writer"
    needs = frozenset({"filtered_windows"})

    def __init__(self, folder: str | Path) -> None:
        super().__init__(folder, ".jsonl")

    def begin(self, split: Split) -> None:
        super().begin(split)
        self._summary = SplitSummary()

    def write(self, data: Curated, out: BinaryIO) -> int:
        self._summary.add(summarise(data, digest=False))
        done = 0
        for row, record in data.plain.items():
            if data.native is not None:
                data.native.write(done, row, out.fileno())
            out.write(normal_form(record).encode() + b"\n")
            done = row + 1
        if data.native is not None:
            data.native.write(done, data.rows, out.fileno())
        return len(data)

    def summary(self) -> SplitSummary:
        return self._summary
