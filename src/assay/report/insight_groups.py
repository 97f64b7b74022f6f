"""Insights that say the same of many entries, as one sentence."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from assay.analysis import Insight

_NUMBER = re.compile(r"(?<![\w.])(?<!e-)(?<!e\+)\d+(?:\.\d+)?(?!\w|\.\w)")
"""Not the 99 of `p99_ms`: names are never ranges."""
_SPELT = r"[^\s:]*[._][^\s:]*"
_SUBJECT = re.compile(rf"(?P<metric>(?:[^\s:]+(?: {_SPELT})?)(?=: )|{_SPELT}(?: {_SPELT})?):? (?P<rest>.+)", re.DOTALL)
"""What a sentence begins with: a name before a colon, or one that no ordinary word is spelt like. A name may have one
space in it, as `repository_size.4 models.commit_speed` has."""
_NAMED = 2
"""Metrics that a sentence names; the rest is counted."""


@dataclass(frozen=True)
class InsightGroup:
    insights: tuple[Insight, ...]

    @property
    def entries(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(insight.entry for insight in self.insights))

    @property
    def who(self) -> str:
        return self.entries[0] if len(self.entries) == 1 else f"{len(self.entries)} entries"

    @property
    def says(self) -> str:
        if len(self.insights) == 1:
            return self.insights[0].says
        metrics = list(dict.fromkeys(metric for metric, _ in map(_split, self.insights) if metric))
        words = merge_sentences([rest for _, rest in map(_split, self.insights)])
        return f"{_name_metrics(metrics)}: {words}" if metrics else words

    @property
    def evidence(self) -> str:
        """Numbers behind a group of one insight; empty for several, each of which has its own."""
        return self.insights[0].evidence if len(self.insights) == 1 else ""

    @property
    def advice(self) -> str:
        return merge_sentences([insight.advice for insight in self.insights])

    @property
    def severity(self) -> int:
        return max(insight.severity for insight in self.insights)


def insight_groups(insights: Iterable[Insight]) -> list[InsightGroup]:
    """The gravest first, then what is said of most."""
    found: dict[tuple[str, ...], list[Insight]] = {}
    for insight in insights:
        metric, rest = _split(insight)
        alike = (insight.kind, "metric" if metric else "", _NUMBER.sub("#", rest), _NUMBER.sub("#", insight.advice))
        found.setdefault(alike, []).append(insight)
    groups = [InsightGroup(tuple(group)) for group in found.values()]
    return sorted(groups, key=lambda group: (-group.severity, -len(group.entries)))


def merge_sentences(sentences: Sequence[str]) -> str:
    """Sentences that differ in their numbers only, as one: `2 of 6 runs` and `3 of 6 runs` are `2–3 of 6 runs`."""
    numbers = [_NUMBER.findall(sentence) for sentence in sentences]
    parts = _NUMBER.split(sentences[0])
    text = parts[0]
    for place, part in enumerate(parts[1:]):
        ordered = sorted((row[place] for row in numbers), key=float)
        low, high = ordered[0], ordered[-1]
        text += (low if float(low) == float(high) else f"{low}–{high}") + part
    return text


def _split(insight: Insight) -> tuple[str, str]:
    """The metric it is about, where it begins with one, and what it says of it."""
    found = _SUBJECT.fullmatch(insight.says)
    return (found["metric"], found["rest"]) if found else ("", insight.says)


def _name_metrics(metrics: Sequence[str]) -> str:
    more = len(metrics) - _NAMED
    if more <= 0:
        return " and ".join(metrics)
    return f"{', '.join(metrics[:_NAMED])} and {more} more {'metric' if more == 1 else 'metrics'}"
