from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from assay.pipeline.source import Source
from assay.pipeline.stage import Stage


def describe(name: str, source: Source, stages: Sequence[Stage[Any, Any]]) -> str:
    """What will run, one line a stage: its name, what it is, what it asks for and adds."""
    table = [(step, type(source).__name__, "") for step in source.describe()]
    table += [(stage.name, type(stage).__name__, _asks(stage)) for stage in stages]
    widths = [max(len(row[column]) for row in table) for column in (0, 1)]
    lines = [f"{number:3} {a:{widths[0]}}  {b:{widths[1]}}  {c}".rstrip() for number, (a, b, c) in enumerate(table, 1)]
    return "\n".join([f"{name}:", *lines])


def _asks(stage: Stage[Any, Any]) -> str:
    words = [f"{stage.resources.cpus:g} cpu"]
    if stage.resources.gpus:
        words.append(f"{stage.resources.gpus:g} gpu")
    if stage.batch_size is not None:
        words.append(f"{stage.batch_size} rows a call")
    if stage.stateful:
        words.append("one replica, in order")
    if stage.adds:
        words.append("adds " + ", ".join(sorted(stage.adds)))
    return "; ".join(words)
