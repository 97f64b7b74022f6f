"""`listeners`: the programs with which users watched the machine, and where Assay has what they showed."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.names import list_names, unknown


@dataclass(frozen=True)
class Watched:
    """`columns`: beginnings of the columns of usage.csv that hold it. `lacking`: why there may be none."""

    columns: tuple[str, ...]
    lacking: str


_GPU = Watched(("gpu",), "no counter of an NVIDIA GPU could be read")
_APPLE = Watched(("apple",), "it shows Apple's processors, and Assay reads Linux's counters only")
_TREE = Watched(("cpu_s", "rss_mb"), "the counters of /proc cannot be read")
_DISK = Watched(("read_mb", "write_mb"), "the counters of /proc cannot be read")
LISTENERS = {"smi": _GPU, "dcgmi": _GPU, "top": _TREE, "ps": _TREE, "free": _TREE, "iostat": _DISK, "macmon": _APPLE}


def listener_problem(name: str) -> str:
    return "" if name.lower() in LISTENERS else unknown("listener", name, LISTENERS)


def listener_notes(names: Sequence[str], usage: Path) -> tuple[str, ...]:
    """What was asked for and is not among the columns of a pipeline's usage.csv: one note for each reason."""
    columns = _columns(usage)
    lacking: dict[str, list[str]] = {}
    for name in names:
        watched = LISTENERS[name.lower()]
        if not any(column.startswith(watched.columns) for column in columns):
            lacking.setdefault(watched.lacking, []).append(name)
    return tuple(f"listeners: nothing of {list_names(named)} in usage.csv: {why}" for why, named in lacking.items())


def _columns(usage: Path) -> list[str]:
    """Columns with a value in any row; all columns where the run was too short for a row."""
    try:
        with usage.open(encoding="utf-8", newline="") as lines:
            header, *rows = csv.reader(lines)
    except (OSError, ValueError):
        return []
    return [name for name, *values in zip(header, *rows, strict=False) if not values or any(values)]
