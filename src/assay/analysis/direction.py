"""Which way is better, where a program does not say it: from the unit, then from the words of the name.

A wrong guess would call an improvement a regression, so names that could be either (counts, sizes of the input, plain
`rate`) get none. Nor do statistics of tasks, unless somebody declares one.
"""

from __future__ import annotations

import re

from assay.record.metric import Better
from assay.record.task_metrics import is_task_metric

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


def _words(name: str) -> str:
    return re.sub(r"[^a-z0-9/]+", "_", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()).strip("_")
