"""Words of the files that say what is started, and on what."""

from __future__ import annotations

import sys


def resolve_program(first: list[str]) -> list[str]:
    """The first word of a command as it is started: `assay` is the one that runs, wherever it is installed."""
    return [sys.executable, "-m", "assay"] if first == ["assay"] else first


def gpu_numbers(written: int | list[int] | None) -> tuple[int, ...] | None:
    """`gpus: 2` stands for the first two."""
    if written is None:
        return None
    return tuple(range(written)) if isinstance(written, int) else tuple(written)
