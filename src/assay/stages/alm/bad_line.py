from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class BadLine:
    """Where a manifest is wrong. The line's number is counted only when a person is to read it."""

    path: str
    offset: int
    field: str
    problem: str

    def __str__(self) -> str:
        return describe([self])[0]


def describe(bad: Sequence[BadLine]) -> list[str]:
    """`file:line: field: problem`, in the order given; each file is gone through once."""
    from assay.stages.alm.manifest_file import line_numbers

    offsets: dict[str, set[int]] = {}
    for one in bad:
        offsets.setdefault(one.path, set()).add(one.offset)
    lines = {path: line_numbers(path, sorted(wanted)) for path, wanted in offsets.items()}
    return [
        f"{one.path}:{lines[one.path][one.offset]}: {one.field + ': ' if one.field else ''}{one.problem}" for one in bad
    ]


class FieldError(ValueError):
    """A recording that the rules cannot be applied to; whoever knows the file and line adds them."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(field, problem)
        self.field = field
        self.problem = problem
