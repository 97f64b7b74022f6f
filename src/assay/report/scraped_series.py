from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assay.untrusted.read_limit import SESSION
from assay.untrusted.text_file import read_text
from assay.untrusted.unreadable import Unreadable

MOST_SERIES = 200


@dataclass(frozen=True)
class ScrapedSeries:
    """`service_metrics.jsonl`: readings of a server's Prometheus page, series by series."""

    points: Mapping[str, tuple[tuple[float, float], ...]] = field(default_factory=dict)
    """Points by series: seconds from the start of the program, and the value."""

    @classmethod
    def read(cls, path: Path) -> ScrapedSeries:
        """Lines that are none are passed over: a server decides what stands there."""
        try:
            lines = read_text(path, SESSION).splitlines()
        except (FileNotFoundError, Unreadable):
            return cls()
        points: dict[str, list[tuple[float, float]]] = {}
        for line in lines:
            t, values = _reading(line)
            for name, value in values.items():
                if _is_number(value) and (name in points or len(points) < MOST_SERIES):
                    points.setdefault(name, []).append((t, float(value)))
        return cls({name: tuple(found) for name, found in points.items()})

    def changing(self) -> list[str]:
        """Names of those that did not stay the same."""
        return [name for name, found in self.points.items() if len({value for _, value in found}) > 1]


def _reading(line: str) -> tuple[float, Mapping[str, Any]]:
    try:
        reading = json.loads(line)
    except (ValueError, RecursionError):
        return 0.0, {}
    if not isinstance(reading, dict) or not _is_number(reading.get("t_s")):
        return 0.0, {}
    values = reading.get("values")
    return float(reading["t_s"]), values if isinstance(values, dict) else {}


def _is_number(value: object) -> bool:
    """That a chart can show: not NaN, which is below nothing."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300
