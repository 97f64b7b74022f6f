"""Prometheus's text format, read under limits: what a server writes is not to be trusted.

Grammar: prometheus.io/docs/instrumenting/exposition_formats, and OpenMetrics 1.0 where it differs (`_total`, `# EOF`,
exemplars behind a second `#`). Buckets of histograms and quantiles of summaries are left out: there are dozens for each
quantity, and their sums and counts tell the mean.
"""

from __future__ import annotations

import json
import math
import re
import threading
import time
import urllib.error
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

from assay.files.writing import open_new
from assay.session.results.program_results import ProgramResults
from assay.session.service.readiness import DIRECT

if TYPE_CHECKING:
    from assay.session.service.services import ServedRun


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


MOST_METRICS = 40
QUEUES_AND_CACHES = (
    "*running*", "*waiting*", "*queue*", "*requests_processing", "*requests_deferred", "*batch*size*",
    "*cache*usage*", "*cache_hit*", "*prefix_cache*", "*token_usage", "*preemption*",
)  # fmt: skip
"""What vLLM, SGLang, TGI and llama.cpp call their queues and caches, for a service that names nothing."""


def summarise_readings(readings: Mapping[SeriesName, Sequence[float]], names: Sequence[str]) -> dict[str, Any]:
    """Service metrics: mean and highest reading of a gauge, increase of a counter; at most `MOST_METRICS` values."""
    wanted = tuple(names) or QUEUES_AND_CACHES
    chosen = {
        series: values
        for series, values in readings.items()
        if values and any(fnmatchcase(series.name, pattern) for pattern in wanted)
    }
    metrics: dict[str, Any] = {}
    for series, values in chosen.items():
        name = f"service_{_word(series, [other for other in chosen if other.name == series.name])}"
        if series.kind == "counter":
            metrics[f"{name}_increase"] = increase(values)
        else:
            metrics[f"{name}_mean"] = sum(values) / len(values)
            metrics[f"{name}_max"] = max(values)
        if len(metrics) >= MOST_METRICS:
            break
    return metrics


def increase(values: Sequence[float]) -> float:
    """What a counter has gained; one that was reset to 0 has gained what it shows since."""
    return sum(after - before if after >= before else after for before, after in pairwise(values))


def _word(series: SeriesName, alike: list[SeriesName]) -> str:
    """The name; where several series have it, with the labels in which they differ."""
    shared = set.intersection(*(set(other.labels) for other in alike))
    own = [f"{key}_{value}" for key, value in series.labels if (key, value) not in shared]
    return re.sub(r"[^A-Za-z0-9_]+", "_", "_".join([series.name, *own])).strip("_").lower()


_ANSWER_S = 5.0
MOST_FILE_BYTES = 64 << 20
"""Most bytes of one run's file; a day with two hundred series at a reading a second has more: the rest is left out."""


class Scraper:
    """Reads the Prometheus page of a service while a program runs: once at its start, each `interval_s`, at its end.

    A thread of Assay's own: nothing of it is counted as the program's or the service's.
    """

    def __init__(self, url: str, interval_s: float, path: Path) -> None:
        """`path`: JSON lines, `{"t_s": seconds from the start, "values": {series: value}}`."""
        self._url = url
        self._interval_s = interval_s
        self._path = path
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._read_all, daemon=True)
        self._begun = 0.0
        self._written = 0
        self.readings: dict[SeriesName, list[float]] = {}
        self.count = 0
        self.failed = 0
        self.problem = ""
        """Why a reading is missing: the last reason."""

    def __enter__(self) -> Self:
        self._begun = time.monotonic()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join(timeout=2 * _ANSWER_S)

    def _read_all(self) -> None:
        try:
            with open_new(self._path) as out:
                due = self._begun
                while True:
                    last = self._stop.is_set()
                    self._read(out.write)
                    if last:
                        return
                    due = max(due + self._interval_s, time.monotonic())
                    self._stop.wait(due - time.monotonic())
        except OSError as error:
            self.problem = f"{error.strerror or error}: {self._path.name}"

    def _read(self, write: object) -> None:
        at = time.monotonic() - self._begun
        self.count += 1
        try:
            with DIRECT.open(self._url, timeout=_ANSWER_S) as answer:
                page = answer.read(MOST_BYTES + 1)
        except urllib.error.HTTPError as error:
            self._fail(f"it answered with status {error.code}")
            return
        except (OSError, ValueError) as error:
            self._fail(str(getattr(error, "reason", error)))
            return
        if len(page) > MOST_BYTES:
            self._fail(f"it is larger than {MOST_BYTES >> 20} MB")
            return
        values = read_metrics_page(page.decode("utf-8", "replace"))
        for series, value in values.items():
            self.readings.setdefault(series, []).append(value)
        line = json.dumps({"t_s": round(at, 4), "values": {str(series): value for series, value in values.items()}})
        if self._written + len(line) <= MOST_FILE_BYTES and callable(write):
            self._written += write(line + "\n")

    def _fail(self, why: str) -> None:
        self.failed += 1
        self.problem = why


def with_service_metrics(results: ProgramResults, served: ServedRun | None) -> ProgramResults:
    """What was measured of a service beside what its program measured; of two with one name the program's counts."""
    if served is None:
        return results
    both = sorted(served.metrics.keys() & results.metrics.keys())
    warnings = [
        f"{name} is the program's; what was measured of the service under that name is left out" for name in both
    ]
    own = {name: value for name, value in served.metrics.items() if name not in both}
    return replace(results, metrics={**results.metrics, **own}, warnings=[*results.warnings, *warnings])
