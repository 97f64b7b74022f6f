"""Prometheus's text format, read under limits: what a server writes is not to be trusted.

Grammar: prometheus.io/docs/instrumenting/exposition_formats, and OpenMetrics 1.0 where it differs (`_total`, `# EOF`,
exemplars behind a second `#`). Buckets of histograms and quantiles of summaries are left out: there are dozens for each
quantity, and their sums and counts tell the mean.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Literal

Kind = Literal["gauge", "counter"]
MOST_BYTES = 8 << 20
"""Most bytes of one page; that of a busy vLLM has some 100 kB."""
MOST_SERIES = 500
_LONGEST_LINE = 8192
_LONGEST_NAME = 200
_SAMPLE = re.compile(r"([A-Za-z_:][A-Za-z0-9_:]*)(?:\{([^\n]*?)\})?[ \t]+([^ \t#]+)(?:[ \t].*)?")
_LABEL = re.compile(r'\s*([A-Za-z_][A-Za-z0-9_]*)\s*=\s*"((?:[^"\\]|\\.)*)"\s*,?')
_ESCAPED = {r"\\": "\\", r"\"": '"', r"\n": "\n"}
_COUNTED = ("_total", "_sum", "_count")


@dataclass(frozen=True)
class SeriesName:
    """A quantity of a server, told apart by its labels."""

    name: str
    labels: tuple[tuple[str, str], ...]
    kind: Kind

    def __str__(self) -> str:
        said = ",".join(f'{key}="{value}"' for key, value in self.labels)
        return f"{self.name}{{{said}}}" if said else self.name


def read_metrics_page(text: str) -> dict[SeriesName, float]:
    """Values of at most `MOST_SERIES` series, in the order of the page. Lines that hold none are passed over."""
    kinds: dict[str, str] = {}
    found: dict[SeriesName, float] = {}
    for line in text.split("\n"):
        if len(line) > _LONGEST_LINE or not line:
            continue
        if line.startswith("#"):
            words = line.split(None, 3)
            if len(words) == 4 and words[1] == "TYPE":
                kinds[words[2]] = words[3].strip()
            continue
        sample = _sample(line, kinds)
        if sample is not None:
            found[sample[0]] = sample[1]
            if len(found) >= MOST_SERIES:
                break
    return found


def _sample(line: str, kinds: dict[str, str]) -> tuple[SeriesName, float] | None:
    match = _SAMPLE.fullmatch(line.rstrip("\r"))
    if match is None or len(match[1]) > _LONGEST_NAME:
        return None
    kind = _kind(match[1], kinds)
    labels = tuple((key, _unescape(value)) for key, value in _LABEL.findall(match[2] or ""))
    try:
        value = float(match[3])
    except ValueError:
        return None
    if kind is None or not math.isfinite(value) or any(key in ("le", "quantile") for key, _ in labels):
        return None
    return SeriesName(match[1], labels, kind), value


def _kind(name: str, kinds: dict[str, str]) -> Kind | None:
    """Kind of a series; a gauge where the page does not say. None for a part of something that is left out."""
    if name in kinds and kinds[name] not in ("histogram", "summary"):
        return "counter" if kinds[name] == "counter" else "gauge"
    for ending in _COUNTED:
        if name.endswith(ending) and kinds.get(name.removesuffix(ending)) in ("counter", "histogram", "summary"):
            return "counter"
    if name.endswith(("_bucket", "_created")):
        return None
    return "gauge"


def _unescape(value: str) -> str:
    return re.sub(r'\\[\\"n]', lambda found: _ESCAPED[found[0]], value)
