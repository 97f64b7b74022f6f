from __future__ import annotations

from statistics import fmean

from assay.record.metric import Metric


class TrainingFigures:
    """What a training tells of itself: its loss step by step, how long a step took, and how much it got through."""

    def __init__(self, items: str) -> None:
        self._items = items
        self._losses: list[float] = []
        self._seconds: list[float] = []
        self._count = 0

    def step(self, loss: float, seconds: float, items: int) -> None:
        """`seconds` of the model alone, the device waited for; `items` that it trained on in them."""
        self._losses.append(loss)
        self._seconds.append(seconds)
        self._count += items

    def metrics(self) -> list[Metric]:
        if not self._losses:
            return []
        return [
            Metric("loss", self._losses[-1], better="lower", samples=tuple(self._losses)),
            Metric("loss_first", self._losses[0]),
            Metric("optimizer_steps", len(self._losses), unit="1"),
            Metric("step_s", fmean(self._seconds), unit="s", better="lower", samples=tuple(self._seconds)),
            Metric(f"trained_{self._items}_per_s", self._count / sum(self._seconds), unit="1/s", better="higher"),
        ]
