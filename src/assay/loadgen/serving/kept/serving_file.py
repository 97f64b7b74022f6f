from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.loadgen.serving.kept.point_json import finite, point_json
from assay.loadgen.serving.measured.formulas import FORMULAS, FROM_SEND
from assay.loadgen.serving.measured.load_point import LoadPoint
from assay.loadgen.serving.measured.point_metrics import point_metrics
from assay.record.writing.strict_json import encode
from assay.untrusted.writing import write_atomic

VERSION = 1
FILE_NAME = "serving.json"


@dataclass(frozen=True)
class RateCurve:
    """Loads at several rates, and the highest rate that was kept, where it was looked for."""

    valid: Sequence[bool]
    """Whether each point met the objectives under the load that was asked for."""
    peak_rate: float | None = None
    peak_bounded: bool = False
    """A higher rate was tried and was not kept."""
    peak_confirmed: bool = False
    """The peak was kept a second time."""
    sought: bool = False
    """A peak was looked for."""

    def to_json(self, points: Sequence[LoadPoint]) -> dict[str, Any]:
        return {
            "points": [_curve_point(point, valid) for point, valid in zip(points, self.valid, strict=True)],
            "peak": {"rate": self.peak_rate, "bounded": self.peak_bounded, "confirmed": self.peak_confirmed}
            if self.sought
            else None,
        }


def write_serving(
    folder: Path, about: dict[str, Any], points: Sequence[LoadPoint], curve: RateCurve | None = None
) -> None:
    """`about`: the endpoint and the prompts. One point, or with a curve one for each rate."""
    marks = [None] * len(points) if curve is None else curve.valid
    written = {
        "version": VERSION,
        **about,
        "points": [point_json(point, valid=valid) for point, valid in zip(points, marks, strict=True)],
        "curve": None if curve is None else curve.to_json(points),
        "definitions": {**FORMULAS, "…_from_send": FROM_SEND},
    }
    folder.mkdir(parents=True, exist_ok=True)
    write_atomic(folder / FILE_NAME, encode(written))


def _curve_point(point: LoadPoint, valid: bool) -> dict[str, Any]:
    """What a chart of latency against rate draws; `times` is empty for a load whose times are not the server's."""
    metrics = {metric.name: finite(metric.value) for metric in point_metrics(point)}
    times = {name: value for name, value in metrics.items() if "_s_p" in name and not name.startswith("lateness")}
    rates = ("requests_per_s", "output_tokens_per_s", "goodput_requests_per_s", "goodput_tokens_per_s")
    return {
        "rate": point.asked.rate,
        "concurrency": point.asked.concurrency if point.asked.loop == "closed" else None,
        "delivered_share": finite(point.delivered.share),
        "valid": valid,
        "saturated": point.saturation is not None,
        "client_bottleneck": bool(point.verdict.client_bottleneck),
        **{name: metrics.get(name) for name in rates},
        "times": times,
        "errors": point.error_count,
    }
