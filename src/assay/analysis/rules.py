from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from assay.errors import UsageError
from assay.record import Record
from assay.record.metric import Better

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
        return max(self.default_margin, self.floors.get((fingerprint, metric), 0.0))

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
