from __future__ import annotations

from typing import Any

from assay.errors import DataError
from assay.pipeline import Stage
from assay.stages.alm.kernel import NativeBatch
from assay.stages.alm.parameters import BuilderParameters
from assay.stages.alm.recording import BadLine, FieldError, Lines, parse_recording
from assay.stages.alm.split_summary import Curated
from assay.stages.alm.window_builder import build


class ALMDataBuilderStage(Stage[Lines, Curated]):
    """Windows of about the target duration from the segments of each recording."""

    name = "alm_data_builder"
    needs = frozenset({"segments"})
    adds = frozenset({"windows", "stats", "truncation_events"})

    def __init__(
        self, parameters: BuilderParameters | None = None, on_bad_line: str = "fail", native: bool = True
    ) -> None:
        self.parameters = parameters or BuilderParameters()
        self.skip = on_bad_line == "skip"
        self.native = native
        self._compiled: Any = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_compiled": None}

    def process(self, data: Lines) -> Curated:
        for bad in data.bad:
            self._refuse(bad)
        return self._native(data) if self._use_kernel() else self._plain(data)

    def _use_kernel(self) -> bool:
        if self._compiled is not None or not self.native:
            return self.native
        from assay.stages.alm.kernel import builder_parameters, library

        if library() is None:
            return False
        self._compiled = builder_parameters(self.parameters)
        return True

    def _native(self, lines: Lines) -> Curated:
        from assay.stages.alm.kernel import BAD, PLAIN

        native = NativeBatch()
        rows = native.build(lines.data, self._compiled)
        plain: dict[int, dict[str, Any]] = {}
        bad = list(lines.bad)
        for row, start, end in native.rows_of(PLAIN):
            built = self._strict(lines, start, end)
            if isinstance(built, BadLine):
                native.set_kind(row, BAD)
                bad.append(built)
            else:
                plain[row] = built
        refused = len(bad) - len(lines.bad)
        return Curated(lines, native, plain, tuple(bad), rows, rows - refused)

    def _plain(self, lines: Lines) -> Curated:
        plain: dict[int, dict[str, Any]] = {}
        bad = list(lines.bad)
        rows = 0
        for row, (start, end) in enumerate(lines.positions()):
            built = self._strict(lines, start, end)
            rows += 1
            if isinstance(built, BadLine):
                bad.append(built)
            else:
                plain[row] = built
        return Curated(lines, None, plain, tuple(bad), rows, len(plain))

    def _strict(self, lines: Lines, start: int, end: int) -> dict[str, Any] | BadLine:
        try:
            return build(parse_recording(lines.data[start:end]), self.parameters)
        except FieldError as error:
            bad = BadLine(lines.path, lines.file_offset(start), error.field, error.problem)
            self._refuse(bad)
            return bad

    def _refuse(self, bad: BadLine) -> None:
        if not self.skip:
            raise DataError(f"{bad} (--on-bad-line skip leaves such lines out)")
