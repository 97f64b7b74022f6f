from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from assay.record.metric import as_float
from assay.untrusted.text_file import storable

STANDS_FOR: Final = "stands_for"
"""Metric of a task that was kept for several calls: how many calls it stands for, itself included. Without it, one."""


@dataclass(frozen=True)
class TaskPerf:
    """One timed call of a stage or block.

    `invocation` is given once, when the call is timed, and travels with every copy: two records with the same
    one are the same call, however often it was copied or pickled.
    """

    stage: str
    metrics: Mapping[str, float]
    invocation: str = field(default_factory=lambda: os.urandom(16).hex())

    def to_json(self) -> dict[str, Any]:
        return {"stage": self.stage, "metrics": dict(self.metrics), "invocation": self.invocation}

    @classmethod
    def from_json(cls, written: Mapping[str, Any]) -> TaskPerf:
        """Any language's line: `{"stage": …, "metrics": {…}}`, or the numbers beside the stage's name."""
        metrics = written.get("metrics")
        if not isinstance(metrics, Mapping):
            metrics = {key: value for key, value in written.items() if key not in ("stage", "name", "invocation")}
        stage = written.get("stage", written.get("name"))
        if not isinstance(stage, str):
            raise ValueError("has no `stage` name")
        invocation = storable(str(written.get("invocation") or os.urandom(16).hex()))
        return cls(storable(stage), dict(_numbers(metrics)), invocation)


def _numbers(metrics: Mapping[Any, Any]) -> Iterator[tuple[str, float]]:
    for name, value in metrics.items():
        if isinstance(value, int | float) and not isinstance(value, bool):
            yield storable(str(name)), as_float(value)
