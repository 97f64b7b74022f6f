from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class BadLine:
    """Where a manifest is wrong. The line's number is counted only when a person is to read it."""

    path: str
    offset: int
    field: str
    problem: str

    def __str__(self) -> str:
        from assay.stages.alm.manifest_file import line_number

        where = self.path if self.offset < 0 else f"{self.path}:{line_number(self.path, self.offset)}"
        return f"{where}: {self.field}: {self.problem}" if self.field else f"{where}: {self.problem}"


class FieldError(ValueError):
    """A recording that the rules cannot be applied to; whoever knows the file and line adds them."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(field, problem)
        self.field = field
        self.problem = problem
