from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isclose
from typing import Any, Literal

from assay.analysis.environment_difference import Difference
from assay.analysis.failure import Failure, failure_lines
from assay.analysis.verdict import Verdict
from assay.record.metric import Better

OWN = ("exec_time_s", "usage.cpu_s", "usage.peak_rss_mb")
"""What Assay measures of any program."""

ONLY_IN_BASE = "only in base"
Design = Literal["paired", "unpaired", "history", "exact", "none"]


@dataclass(frozen=True)
class Row:
    """One metric of one entry, compared. Without a metric: the entry as a whole could not be."""

    entry: str
    metric: str
    verdict: Verdict
    reason: str
    unit: str | None = None
    better: Better | None = None
    base: float | None = None
    head: float | None = None
    """Medians, in the metric's own unit."""
    ratio: float | None = None
    """Head over base, with its interval."""
    low: float | None = None
    high: float | None = None
    confidence: float = 0.95
    margin: float = 0.0
    floor: float = 0.0
    """What identical code could differ by, given this noise and number of runs."""
    p: float | None = None
    adjusted_p: float | None = None
    base_runs: int = 0
    head_runs: int = 0
    design: Design = "none"
    notes: tuple[str, ...] = ()
    """What a reader should know besides: spikes, a busy machine, a warm-up."""

    @property
    def conclusive(self) -> bool:
        return self.verdict in (Verdict.IMPROVED, Verdict.REGRESSED, Verdict.EQUIVALENT)

    @property
    def matters(self) -> bool:
        return self.better is not None or (self.design == "exact" and self.verdict is Verdict.INCONCLUSIVE)

    @property
    def gone(self) -> bool:
        """The base measured it and the head does not."""
        return bool(self.metric) and self.verdict is Verdict.NOT_COMPARABLE and self.reason == ONLY_IN_BASE

    @property
    def unordered(self) -> bool:
        """It changed, and nothing says whether for the worse."""
        if self.design == "exact":
            return self.verdict is Verdict.INCONCLUSIVE
        return self.verdict is Verdict.NOT_COMPARABLE and self.base is not None and self.head is not None

    @property
    def before(self) -> float | None:
        """The level that `ratio` is relative to: what stands beside `head` wherever a row is shown. The median of the
        base is another number where runs were paired, mended or held against many earlier sessions."""
        if not self.ratio or self.head is None:
            return self.base
        level = self.head / self.ratio
        return self.base if self.base is not None and isclose(level, self.base, rel_tol=1e-9) else level

    def to_json(self) -> dict[str, Any]:
        return {**self.__dict__, "base": self.before, "verdict": str(self.verdict), "notes": list(self.notes)}


@dataclass(frozen=True)
class Comparison:
    base: str
    head: str
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()
    failures: tuple[Failure, ...] = ()
    """Runs of either side that gave no measurement."""
    missing_base: bool = False
    """A first run: somebody said that there need not be anything to compare with."""
    environment: tuple[Difference, ...] = ()
    """What differs besides: machine, load, system, packages; the most telling first."""

    def of(self, verdict: Verdict) -> tuple[Row, ...]:
        return tuple(row for row in self.rows if row.verdict is verdict)

    @property
    def regressed(self) -> tuple[Row, ...]:
        return self.of(Verdict.REGRESSED)

    @property
    def counts(self) -> Mapping[Verdict, int]:
        counted = Counter(row.verdict for row in self.rows)
        return {verdict: counted[verdict] for verdict in Verdict}

    @property
    def compared(self) -> bool:
        """Something was held against something, even if it stayed inconclusive."""
        return any(row.verdict is not Verdict.NOT_COMPARABLE for row in self.rows)

    @property
    def regression_detected(self) -> bool | None:
        """True: something regressed. False: everything that matters was compared, and neither regressed nor failed.

        None where that cannot be told: a side failed, nothing was compared, or something that matters is inconclusive
        or no longer measured.
        None is not False: ask `is True`, `is False`, or for the `exit_code`.
        """
        if self.regressed:
            return True
        if self.failures:
            return None
        judged = self._decisive()
        told = judged and all(row.conclusive for row in judged) and not self._gone()
        return False if told else None

    @property
    def answer(self) -> str:
        """In a word or two; `reason` says the rest."""
        if self.failures:
            return "failed"
        if not self.compared:
            return "no baseline yet" if self.missing_base else "nothing compared"
        return {True: "regressed", False: "no regression", None: "cannot tell"}[self.regression_detected]

    def _gone(self) -> list[str]:
        return [f"{row.entry} {row.metric}" for row in self.rows if row.gone and row.metric not in OWN]

    def _decisive(self) -> list[Row]:
        """What has a direction, and what is exact and changed without one. What Assay measures of any program decides
        only for programs that time nothing themselves."""
        judged = [row for row in self.rows if row.verdict is not Verdict.NOT_COMPARABLE and row.matters]
        speak = {row.entry for row in judged if row.metric not in OWN and row.design != "exact"}
        return [row for row in judged if row.metric not in OWN or row.entry not in speak]

    def without_own(self) -> Comparison:
        """What entries that time something say themselves, and of the others what Assay measured."""
        speak = {row.entry for row in self.rows if row.metric not in OWN and row.better is not None}
        rows = tuple(row for row in self.rows if row.metric not in OWN or row.entry not in speak)
        return replace(self, rows=rows)

    @property
    def reason(self) -> str:
        """Why the exit code is what it is."""
        if self.failures:
            lines = _first(failure_lines(self.failures))
            return f"{lines}; regressed as well: {self._regressions()}" if self.regressed else lines
        if self.regressed:
            return self._regressions()
        if not self.compared:
            return self._nothing()
        decisive = self._decisive()
        undecided = [row for row in decisive if row.verdict is Verdict.INCONCLUSIVE]
        if undecided:
            first = undecided[0]
            return f"{len(undecided)} of {len(decisive)} inconclusive; {first.entry} {first.metric}: {first.reason}"
        if not decisive:
            return "of nothing that was compared is it known which way is better"
        if gone := self._gone():
            return f"{ONLY_IN_BASE}: {_first(gone, ', ')}; what the head does not measure cannot be told"
        others = sum(row.verdict is Verdict.INCONCLUSIVE for row in self.rows if row not in decisive)
        besides = f"; {others} inconclusive that {'does' if others == 1 else 'do'} not" if others else ""
        count = "the metric that decides is" if len(decisive) == 1 else f"all {len(decisive)} metrics that decide are"
        return f"{count} equivalent or improved{besides}"

    def _regressions(self) -> str:
        return _first([f"{row.entry} {row.metric} ({row.reason})" for row in self.regressed], ", ")

    def _nothing(self) -> str:
        if self.missing_base:
            return "nothing was compared (--allow-missing-base)"
        why = Counter(f"{row.entry} {row.metric}".strip() + f": {row.reason}" for row in self.rows)
        return _first(list(why)) if why else "the two sides have nothing in common"

    def exit_code(self, *, strict: bool = False) -> int:
        """1 a side failed, or nothing was compared (0 if a base may be missing); 3 regressed; 4 cannot be told, if that
        matters; otherwise 0."""
        if self.failures:
            return 1
        if self.regressed:
            return 3
        if not self.compared:
            return 0 if self.missing_base else 1
        return 4 if strict and self.regression_detected is None else 0

    def to_json(self, *, strict: bool = False) -> dict[str, Any]:
        return {
            "base": self.base,
            "head": self.head,
            "regression_detected": self.regression_detected,
            "answer": self.answer,
            "reason": self.reason,
            "exit_code": self.exit_code(strict=strict),
            "failures": [failure.to_json() for failure in self.failures],
            "counts": {str(verdict): count for verdict, count in self.counts.items()},
            "notes": list(self.notes),
            "environment": [difference.to_json() for difference in self.environment],
            "rows": [row.to_json() for row in self.rows],
        }


def _first(sentences: Sequence[str], between: str = "; ", most: int = 5) -> str:
    more = len(sentences) - most
    return between.join(sentences[:most]) + (f" and {more} more" if more > 0 else "")
