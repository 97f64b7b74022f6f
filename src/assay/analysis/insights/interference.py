from __future__ import annotations

import re
from collections.abc import Iterator

from assay.analysis.insights.insight import EntryRuns, Insight
from assay.analysis.sentences import insight_sentences as said

SLOWED = 1.1
_NAME = re.compile(r"^slowdown\.(?P<who>.+)\.beside\.(?P<other>.+)\.(?P<what>[a-z0-9_]+)$")


def interference(entry: EntryRuns) -> Iterator[Insight]:
    """A pipeline beside another is slower than alone, and the whole interval says so."""
    for name, metric in entry.metrics.items():
        found = _NAME.match(name)
        value = metric.number
        if found is None or value is None or found["what"] in ("low", "high"):
            continue
        if found["what"] == "p50" and f"{name.removesuffix('p50')}p99" in entry.metrics:
            # The tail says it, and says it once.
            continue
        low, high = entry.number(f"{name}.low"), entry.number(f"{name}.high")
        if low is None or low <= 1 or value < SLOWED:
            continue
        beside = "" if found["other"] == found["who"] else found["other"]
        yield Insight(
            "interference", entry.name,
            *said.slowdown(found["who"], found["what"], beside, value, low, high, _rounds(entry)),
            numbers={"slowdown": value, "low": low},
        )  # fmt: skip


def _rounds(entry: EntryRuns) -> str:
    """An interval of one round holds only what its parts differ by."""
    params = entry.runs[-1].script_params
    rounds = params.get("repeat") if params.get("matrix") is True else None
    if not isinstance(rounds, int):
        return ""
    return ", of one round" if rounds == 1 else f", over {rounds} rounds"
