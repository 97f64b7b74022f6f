from __future__ import annotations

from dataclasses import dataclass

from assay.analysis.serving.serving_point import ServingPoint
from assay.report.quantity import number, quantity

_TIMES = (("ttft_s", "First token"), ("tpot_s", "Per output token"), ("latency_s", "Whole answer"))


@dataclass(frozen=True)
class Figure:
    """One large number at the top of a load."""

    title: str
    value: str
    detail: str = ""
    bad: bool = False


def figures(point: ServingPoint) -> tuple[Figure, ...]:
    """Asked and delivered, goodput, times, errors, the client: in the order in which people ask."""
    found = [_load(point), _throughput(point)]
    found += [_time(point, name, title) for name, title in _TIMES if f"{name}_p50" in point.metrics]
    found.append(_errors(point))
    if point.client_cpu_share is not None:
        used = f"{point.client_cpu_share * 100:.3g}% of a core"
        found.append(Figure("The client used", used, point.client))
    return tuple(found)


def _load(point: ServingPoint) -> Figure:
    share = point.delivered_share
    delivered = "delivered share not known" if share is None else f"{_share(share)} of it delivered"
    return Figure("Load asked", point.label, delivered, bad=share is not None and share < 0.95)


def _share(share: float) -> str:
    """Never rounded up to the whole."""
    return f"{int(share * 1000) / 10:g}%"


def _throughput(point: ServingPoint) -> Figure:
    answered, good = point.metrics.get("requests_per_s"), point.metrics.get("goodput_requests_per_s")
    if answered is None:
        return Figure("Answered", "nothing", bad=True)
    tokens = point.metrics.get("output_tokens_per_s")
    parts = [f"{number(float(f'{tokens:.4g}'))} tokens/s"] if tokens else []
    if point.objectives and good is not None:
        parts.insert(0, f"goodput {number(float(f'{good:.4g}'))}/s")
    return Figure("Answered", f"{number(float(f'{answered:.4g}'))}/s", ", ".join(parts))


def _time(point: ServingPoint, name: str, title: str) -> Figure:
    values = [(share, point.metrics.get(f"{name}_{share}")) for share in ("p95", "p99")]
    more = ", ".join(f"{share} {quantity(value, 's')}" for share, value in values if value is not None)
    return Figure(f"{title}, median", quantity(point.metrics[f"{name}_p50"], "s"), more)


def _errors(point: ServingPoint) -> Figure:
    if not point.error_count:
        return Figure("Errors", "none", f"{number(point.requests)} requests" if point.requests else "")
    kinds = ", ".join(f"{count} × {kind}" for kind, count in point.errors if count)
    return Figure("Errors", number(point.error_count), kinds, bad=True)
