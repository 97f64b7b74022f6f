"""Which way is better, where a program does not say it: from the unit, then from the words of the name.

A wrong guess would call an improvement a regression, so names that could be either (counts, sizes of the input, plain
`rate`) get none. Nor do statistics of tasks, unless somebody declares one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from assay.errors import DataError, UsageError
from assay.files.json_text import encode, read_json, untag
from assay.files.reading import SESSION, Unreadable
from assay.files.writing import write_atomic
from assay.record import Record
from assay.record.metric import Better
from assay.record.task import is_task_metric

_HIGHER_UNITS = re.compile(r"^(1|[\w%]+)\s*(/|per\s)\s*(s|sec|second|min|minute|h|hour)s?$", re.IGNORECASE)
_LOWER_UNITS = frozenset({"s", "sec", "seconds", "ms", "us", "µs", "ns", "min", "h"})

_RATE = re.compile(
    r"throughput|goodput|(^|_)per_(s|sec|second|minute|hour)($|_)|(^|_)(qps|rps|tps|fps|ops|iops|flops)($|_)"
    r"|(^|_)[kmg]i?b_?(ps|/s)($|_)|bandwidth|tokens_s$|_rate_hz$"
)
_HIGHER = re.compile(
    _RATE.pattern + r"|(^|_)mfu($|_)|speed_?up|accuracy|precision|recall|(^|_)f1($|_)|(^|_)(auc|bleu|rouge)"
    r"|compression_ratio|efficiency|hit_rate|hit_ratio|space_saved|saved_percent|savings|utili[sz]ation"
    r"|exact_match|(^|_)reward($|_)"
)
_TIME = re.compile(
    r"latency|(^|_)(time|duration|elapsed|wall|ttft|tpot|itl|jitter)($|_)|_time_|(^|_)(seconds|secs|millis)($|_)"
    r"|_(s|ms|us|ns)$|_(s|ms|us|ns)_(mean|sum|std|min|max|median|p\d+)$"
)
_LOWER = re.compile(
    _TIME.pattern + r"|(^|_)rss|memory|(^|_)mem($|_)|peak_.*mb"
    r"|(^|_)(loss|perplexity|ppl|errors?|error_rate|failures?|failed|misses|dropped|lost|late|timeouts?|retries)($|_)"
    r"|slow_?down|overhead|(^|_)wait|queue_(depth|delay)|stall|steal|throttled|leak|growth|fragmentation"
    r"|(^|_)(stored|compressed|disk)_(bytes|mb|size)|energy|joules|cost($|_)|interference|degradation"
)
_SECONDS = re.compile(r"_(s|ms|us|ns|seconds|secs|millis|duration|dur)$")
_NEITHER = re.compile(r"_std$|_stddev$|_variance$|(^|_)(num|count|seed|version|batch_size|timestamp|input|config)(_|$)")


def direction(name: str, unit: str | None, declared: Better | None, *, exact: bool = False) -> Better | None:
    """`exact`: it is counted, so seconds in its unit or name are a property of the data, not a time that passed."""
    if declared is not None:
        return declared
    words = _words(name)
    if is_task_metric(name) or _NEITHER.search(words) or (exact and (unit in _LOWER_UNITS or _SECONDS.search(words))):
        return None
    if unit is not None:
        if _HIGHER_UNITS.match(unit.strip()):
            return "higher"
        if unit.strip() in _LOWER_UNITS:
            return "lower"
    higher, lower = bool(_HIGHER.search(words)), bool(_LOWER.search(words))
    if higher:
        # `throughput_at_latency_10ms` is a throughput; `overhead_efficiency` nobody has named yet.
        return "higher"
    return "lower" if lower else None


def is_time(name: str, unit: str | None) -> bool:
    """Whether it is a time, by its unit, or by its name where it has none."""
    return unit.strip() in _LOWER_UNITS if unit else bool(_TIME.search(_words(name)))


def is_rate(name: str, unit: str | None) -> bool:
    """Whether it is a rate (so many of something a second), by its unit, or by its name where it has none."""
    return bool(_HIGHER_UNITS.match(unit.strip())) if unit else bool(_RATE.search(_words(name)))


def is_wall_clock(name: str, unit: str | None, better: Better | None) -> bool:
    """Whether other processes on the machine can move it: a time of which less is better, or a rate of which more is.
    Not one with `cpu` among the words of its name, which time spent waiting is not part of."""
    if re.search(r"(^|_)cpu($|_)", _words(name)):
        return False
    return (better == "lower" and is_time(name, unit)) or (better == "higher" and is_rate(name, unit))


def _words(name: str) -> str:
    return re.sub(r"[^a-z0-9/]+", "_", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()).strip("_")


DEFAULT_MARGIN = 0.03
"""Smaller changes are seldom worth a person's time, and machines differ by as much from boot to boot."""


@dataclass(frozen=True)
class MetricRule:
    """What somebody declared about a metric; None: not said."""

    better: Better | None = None
    unit: str | None = None
    margin: float | None = None
    exact: bool | None = None


@dataclass(frozen=True)
class Rules:
    """What is declared, by (entry, metric); either may be a pattern such as `*`. The last that matches wins."""

    declared: Mapping[tuple[str, str], MetricRule] = field(default_factory=dict)
    default_margin: float = DEFAULT_MARGIN
    floors: Mapping[tuple[str, str], float] = field(default_factory=dict)
    """Noise floors that `assay calibrate` measured, by (fingerprint key, metric): 0.04 is 4%."""

    def of(self, entry: str, metric: str) -> MetricRule:
        found = MetricRule()
        for (for_entry, for_metric), rule in self.declared.items():
            if fnmatchcase(entry, for_entry) and fnmatchcase(metric, for_metric):
                found = MetricRule(
                    rule.better or found.better,
                    rule.unit or found.unit,
                    found.margin if rule.margin is None else rule.margin,
                    found.exact if rule.exact is None else rule.exact,
                )
        return found

    def own_margin(self, run: Record, metric: str) -> float | None:
        """What somebody said for this very metric: the only margin that an exact metric has."""
        declared = self.of(run.name, metric).margin
        return run.margins.get(metric) if declared is None else declared

    def margin(self, run: Record, metric: str, fingerprint: str) -> float:
        """What was asked for, what the run's configuration declares, or the larger of default and noise floor."""
        declared = self.own_margin(run, metric)
        if declared is not None:
            return declared
        known = (
            self.floors.get((key, metric), 0.0) for key in (fingerprint, run.fingerprint.key_with_script(run.script))
        )
        return max(self.default_margin, *known)

    def with_margins(self, words: list[str]) -> Rules:
        """`5%`, `METRIC=5%` or `ENTRY:METRIC=5%`, as written after `--margin`."""
        rules = dict(self.declared)
        default = self.default_margin
        for word in words:
            name, equals, value = word.rpartition("=")
            margin = _share(value, word)
            if not equals:
                default = margin
                continue
            entry, colon, metric = name.rpartition(":")
            rules[(entry if colon else "*", metric)] = MetricRule(margin=margin)
        return Rules(rules, default, self.floors)


def _share(text: str, word: str) -> float:
    try:
        value = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        value = -1.0
    if not 0 < value < 10:
        raise UsageError(f"--margin {word}: write a share such as 5% or 0.05, or METRIC=5%, or ENTRY:METRIC=5%")
    return value


# Noise floors that `assay calibrate` measured.

FILE_NAME = "noise_floors.json"


@dataclass(frozen=True)
class NoiseFloor:
    """What identical code was seen to differ by, for one metric of one fingerprint."""

    entry: str
    metric: str
    fingerprint: str
    floor: float
    """0.04 is 4%."""
    pairs: int
    measured_at: str


def load_floors(results_dir: Path) -> list[NoiseFloor]:
    path = results_dir / FILE_NAME
    try:
        written = read_json(path, SESSION, untag, own=True)
        return [NoiseFloor(**item) for item in _items(written)]
    except FileNotFoundError:
        return []
    except (Unreadable, TypeError, KeyError) as error:
        why = error.reason if isinstance(error, Unreadable) else error
        raise DataError(f"{path}: cannot be read ({why}); delete it and run `assay calibrate` again") from None


def save_floors(results_dir: Path, floors: list[NoiseFloor]) -> Path:
    """A newer measurement of the same series replaces the older."""
    by_series = {(item.fingerprint, item.metric): item for item in [*load_floors(results_dir), *floors]}
    path = results_dir / FILE_NAME
    results_dir.mkdir(parents=True, exist_ok=True)
    write_atomic(path, encode({"floors": [asdict(item) for item in by_series.values()]}, indent=2))
    return path


def margins(floors: list[NoiseFloor]) -> Mapping[tuple[str, str], float]:
    return {(item.fingerprint, item.metric): item.floor for item in floors}


def _items(written: Any) -> list[dict[str, Any]]:
    if not isinstance(written, dict) or not isinstance(written.get("floors"), list):
        raise TypeError("it has no list of floors")
    return list(written["floors"])
