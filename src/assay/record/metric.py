"""`metrics.json` with plain values, and beside it `metrics_detail.json` with what they do not say.

Any reader finds a number where it expects one; unit, direction, samples and the rest stand in the second file. What
others write may have both in one: `{"value": 2.5, "unit": "s"}` instead of 2.5.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from assay.errors import UsageError
from assay.names import unknown
from assay.record import METRICS_FILE

Better = Literal["higher", "lower"]
BETTER = ("higher", "lower")


class UnknownDirection(UsageError, ValueError):
    """`better` must be one of two words: a third would silently mean neither."""

    def __init__(self, metric: str, better: object) -> None:
        super().__init__(f"metric {metric}: {unknown('better', better, BETTER)}")


@dataclass(frozen=True)
class Metric:
    """One measured value. `samples` are the repeated measurements it sums up, in the order they were taken."""

    name: str
    value: Any
    unit: str | None = None
    better: Better | None = None
    samples: tuple[float, ...] = ()
    exact: bool = False
    """Counted, not timed: the same code gives the same value, so any change is one, from a single run."""
    margin: float | None = None
    """Share by which it may differ and count as the same, where the program knows of one: 0.05 is 5%."""

    def __post_init__(self) -> None:
        if self.better is not None and self.better not in BETTER:
            raise UnknownDirection(self.name, self.better)

    @classmethod
    def parse(cls, name: str, written: Any) -> Metric:
        """`written` is what metrics.json holds: a value, or `{value, unit, better, exact, margin, samples}`."""
        if not (isinstance(written, Mapping) and "value" in written):
            return cls(name, written)
        better = written.get("better")
        return cls(
            name,
            written["value"],
            unit=None if written.get("unit") is None else str(written["unit"]),
            better=better if better in BETTER else None,
            samples=_numbers(written.get("samples")),
            exact=written.get("exact") is True,
            margin=_margin(written.get("margin")),
        )

    def to_json(self) -> Any:
        written: dict[str, Any] = {"value": self.value}
        if self.unit is not None:
            written["unit"] = self.unit
        if self.better is not None:
            written["better"] = self.better
        if self.exact:
            written["exact"] = True
        if self.margin is not None:
            written["margin"] = self.margin
        if self.samples:
            written["samples"] = list(self.samples)
        return written if len(written) > 1 else self.value

    @property
    def number(self) -> float | None:
        """The value where it can be compared: a boolean is an answer, not a quantity."""
        if isinstance(self.value, bool) or not isinstance(self.value, int | float):
            return None
        return as_float(self.value)


def parse_metrics(written: Mapping[str, Any]) -> dict[str, Metric]:
    return {name: Metric.parse(name, value) for name, value in written.items()}


def doubts(written: Mapping[str, Any]) -> list[str]:
    """What a foreign program wrote about its metrics and is not taken: no reason to lose the run, but to be told."""
    found = []
    for name, item in written.items():
        if not (isinstance(item, Mapping) and "value" in item):
            continue
        better, exact = item.get("better"), item.get("exact")
        if better is not None and better not in BETTER:
            found.append(f"metric {name}: {unknown('better', better, BETTER)}; its direction is not taken from there")
        if exact is not None and not isinstance(exact, bool):
            found.append(f"metric {name}: exact is {exact!r}, not true or false; it is taken as not exact")
        if (margin := item.get("margin")) is not None and _margin(margin) is None:
            found.append(f"metric {name}: margin is {margin!r}, not a share such as 0.05; it is not taken")
    return found


def _margin(written: Any) -> float | None:
    """None for what is no share above 0."""
    if isinstance(written, bool) or not isinstance(written, int | float):
        return None
    return as_float(written) if 0 < written < math.inf else None


def _numbers(written: Any) -> tuple[float, ...]:
    if not isinstance(written, Sequence) or isinstance(written, str):
        return ()
    return tuple(as_float(x) for x in written if isinstance(x, int | float) and not isinstance(x, bool))


def as_float(value: float) -> float:
    """JSON's integers know no end, a float does: what is too large for one is infinite."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


VALUES = METRICS_FILE
DETAILS = "metrics_detail.json"


def apart(metrics: Iterable[Metric]) -> tuple[dict[str, Any], dict[str, Any]]:
    """What goes into the one file and into the other."""
    return plain({metric.name: metric.to_json() for metric in metrics}, {})


def plain(values: Mapping[str, Any], details: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Both files' contents with every value plain; where both say something, `metrics.json` is right."""
    bare, more = dict(values), dict(details)
    for name, written in values.items():
        # A value that looks like a metric itself would be taken for one if it stood alone.
        if _is_metric(written) and not _is_metric(written["value"]):
            bare[name] = written["value"]
            said = {key: item for key, item in written.items() if key != "value"}
            known = details.get(name)
            if detail := {**(known if isinstance(known, Mapping) else {}), **said}:
                more[name] = detail
    return bare, more


def together(values: Mapping[str, Any], details: Mapping[str, Any]) -> dict[str, Any]:
    """One object a metric that has details; where both files say something, `metrics.json` is right."""
    joined = dict(values)
    for name, detail in details.items():
        if name not in joined or not isinstance(detail, Mapping):
            continue
        value = joined[name]
        known = value if _is_metric(value) else {"value": value}
        joined[name] = {**detail, **known}
    return joined


def _is_metric(written: Any) -> bool:
    return isinstance(written, Mapping) and "value" in written
