from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from math import isclose, log1p
from typing import TYPE_CHECKING, Any, Literal

from assay.analysis.sentences import conclusion_sentences as conclusion
from assay.analysis.sentences import verdict_sentences as said
from assay.analysis.sentences.metric_words import MetricWords
from assay.analysis.verdict import comparison_verdict
from assay.errors import DataError
from assay.record import Outcome, Record
from assay.record.metric import Better
from assay.stats.shift import RATE, Shift

if TYPE_CHECKING:
    from assay.analysis.conditions import Difference


MEASURED = (Outcome.PASSED, Outcome.MISSED)


@dataclass(frozen=True)
class Failure:
    """Runs of one side that gave no measurement. A comparison with one is not green, whatever the other runs say."""

    side: str
    what: str
    """The entry, or the command."""
    why: str
    """The commonest reason."""
    failed: int
    runs: int

    @property
    def label(self) -> str:
        """A or B, as people are told: `base` and `head` are their names in files."""
        return {"base": "A", "head": "B"}.get(self.side, self.side)

    def __str__(self) -> str:
        return conclusion.failure(self.label, conclusion.failure_count(self.failed, self.runs), self.what, self.why)

    def to_json(self) -> dict[str, Any]:
        return {**self.__dict__, "said": str(self)}


def failure(side: str, what: str, runs: Iterable[Record]) -> list[Failure]:
    """One failure for all runs of one side that failed; none where no run did."""
    counted = [run for run in runs if run.counts]
    failed = [run for run in counted if run.outcome not in MEASURED]
    if not failed:
        return []
    reasons = Counter("; ".join(run.reasons) or str(run.outcome) for run in failed)
    return [Failure(side, what, reasons.most_common(1)[0][0], len(failed), len(counted))]


def failure_lines(failures: Sequence[Failure]) -> list[str]:
    """One sentence each; two sides that fail alike are one, since then the change is not to blame."""
    lines: list[str] = []
    told: set[int] = set()
    for at, one in enumerate(failures):
        if at in told:
            continue
        other = next((n for n, f in enumerate(failures) if n > at and f.side != one.side and _alike(one, f)), None)
        if other is None:
            lines.append(str(one))
            continue
        told.add(other)
        twin = failures[other]
        lines.append(
            conclusion.same_failure(
                (one.label, twin.label), (one.failed, twin.failed), (one.runs, twin.runs), f"{twin.what}: {one.why}"
            )
        )
    return lines


def _alike(one: Failure, other: Failure) -> bool:
    return (one.what, one.why) == (other.what, other.why)


class Verdict(StrEnum):
    IMPROVED = "improved"
    REGRESSED = "regressed"
    EQUIVALENT = "equivalent"
    INCONCLUSIVE = "inconclusive"
    NOT_COMPARABLE = "not comparable"


def verdict_of(
    shift: Shift,
    better: Better | None,
    margin: float,
    adjusted_p: float,
    advice: str = said.MORE_RUNS,
    words: MetricWords | None = None,
) -> tuple[Verdict, str]:
    """The rule, and in words what it rested on; `advice` is what would tell where this does not, `words` what a change
    of this metric is called.

    Changed: the interval excludes 1, the median is beyond the margin and beyond what chance alone would show, and it
    survives the correction for all rows of the table. Equivalent: the interval lies inside the margin.
    """
    words = words or MetricWords.of("", None, better)
    reach = log1p(margin)
    if -reach <= shift.low and shift.high <= reach:
        return Verdict.EQUIVALENT, said.no_change(margin)
    excludes = shift.low > 0 or shift.high < 0
    beyond = abs(shift.estimate) > reach
    by_chance = abs(shift.estimate) <= shift.floor
    if excludes and beyond and not by_chance:
        if shift.p > RATE:
            return Verdict.INCONCLUSIVE, said.may_be_chance(words, shift, advice)
        if adjusted_p > RATE:
            return Verdict.INCONCLUSIVE, said.one_of_many(words, shift)
        return judge_change(shift.estimate, better, said.change(words, shift, margin))
    if not excludes:
        return Verdict.INCONCLUSIVE, said.holds_no_change(words, shift, advice)
    if by_chance and beyond:
        return Verdict.INCONCLUSIVE, said.within_noise(words, shift, advice)
    return Verdict.INCONCLUSIVE, said.near_the_margin(words, shift, margin)


def judge_change(by: float, better: Better | None, reason: str) -> tuple[Verdict, str]:
    """`by`: above zero if it grew."""
    if better is None:
        return Verdict.NOT_COMPARABLE, said.no_direction(reason)
    worse = (by > 0) == (better == "lower")
    return (Verdict.REGRESSED if worse else Verdict.IMPROVED), reason


OWN = ("exec_time_s", "usage.cpu_s", "usage.peak_rss_mb")
"""What Assay measures of any program."""

GRAVEST_FIRST = (
    Verdict.REGRESSED,
    Verdict.IMPROVED,
    Verdict.INCONCLUSIVE,
    Verdict.NOT_COMPARABLE,
    Verdict.EQUIVALENT,
)
"""Verdicts in the order in which they are listed and counted."""
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
    only_in: Literal["base", "head"] | None = None
    """The one side that measured it, where the other did not."""

    @property
    def conclusive(self) -> bool:
        return self.verdict in (Verdict.IMPROVED, Verdict.REGRESSED, Verdict.EQUIVALENT)

    @property
    def matters(self) -> bool:
        return self.better is not None or (self.design == "exact" and self.verdict is Verdict.REGRESSED)

    @property
    def gone(self) -> bool:
        """The base measured it and the head does not."""
        return bool(self.metric) and self.only_in == "base"

    @property
    def words(self) -> MetricWords:
        """What a change of it is called."""
        return MetricWords.of(self.metric, self.unit, self.better)

    @property
    def unordered(self) -> bool:
        """It changed, and nothing says whether for the worse. Of an exact metric that is a regression all the same."""
        if self.design == "exact":
            return self.verdict is Verdict.REGRESSED and None in (self.better, self.base, self.head)
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
        """Exact metrics first: of those it is certain."""
        return tuple(sorted(self.of(Verdict.REGRESSED), key=lambda row: row.design != "exact"))

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
        told = judged and all(row.conclusive for row in judged) and not self._find_gone()
        return False if told else None

    @property
    def answer(self) -> str:
        """The result in a word or two; `reason` says the rest."""
        if self.failures:
            return "failed"
        if not self.compared:
            return "no baseline yet" if self.missing_base else "nothing compared"
        return {True: "regressed", False: "no regression", None: "inconclusive"}[self.regression_detected]

    def _find_gone(self) -> list[str]:
        return [f"{row.entry} {row.metric}" for row in self.rows if row.gone and row.metric not in OWN]

    def _decisive(self) -> list[Row]:
        """Rows that decide: those with a direction, and exact ones that changed without one. What Assay measures of any
        program decides only for programs that time nothing themselves."""
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
        return self._reason(with_rows=True)

    @property
    def short_reason(self) -> str:
        """The same beneath a table, which has the regressions and what is open in its rows."""
        if self.regressed and not self.failures:
            others = {str(verdict): self.counts[verdict] for verdict in GRAVEST_FIRST[1:]}
            return conclusion.count_regressed(
                len(self.regressed), len(self.rows), conclusion.count_verdicts(others, "")
            )
        return self._reason(with_rows=False)

    def _reason(self, *, with_rows: bool) -> str:
        if self.failures:
            lines = conclusion.name_first(failure_lines(self.failures))
            return conclusion.also_regressed(lines, self._regressions()) if self.regressed else lines
        if self.regressed:
            return self._regressions()
        if not self.compared:
            return self._nothing()
        decisive = self._decisive()
        undecided = [row for row in decisive if row.verdict is Verdict.INCONCLUSIVE]
        if undecided:
            first = undecided[0]
            said = f"{first.entry} {first.metric}: {first.reason}" if with_rows else ""
            return conclusion.count_undecided(len(undecided), len(decisive), said)
        if not decisive:
            return conclusion.no_direction()
        if gone := self._find_gone():
            return conclusion.missing_metrics(conclusion.name_first(gone, ", "))
        others = sum(row.verdict is Verdict.INCONCLUSIVE for row in self.rows if row not in decisive)
        return conclusion.nothing_worse(len(decisive), others)

    def _regressions(self) -> str:
        regressed = [conclusion.regression(row.entry, row.metric, row.reason) for row in self.regressed]
        return conclusion.name_first(regressed)

    def _nothing(self) -> str:
        if self.missing_base:
            return conclusion.first_run()
        why = Counter(f"{row.entry} {row.metric}".strip() + f": {row.reason}" for row in self.rows)
        return conclusion.name_first(list(why)) if why else conclusion.nothing_in_common()

    def exit_code(self, *, strict: bool = False) -> int:
        """1 a side failed; 3 regressed; 4 it cannot be told or nothing was compared, if that matters; otherwise 0."""
        if self.failures:
            return 1
        if self.regressed:
            return 3
        return 4 if strict and self.warning else 0

    @property
    def warning(self) -> str:
        """Why exit code 0 does not mean that nothing regressed; empty where it does, or where nobody expects a base."""
        if self.failures or self.regression_detected is not None or (self.missing_base and not self.compared):
            return ""
        return f"{self.answer}: {self.reason}"

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
            "verdict": comparison_verdict(self).to_json(),
            "notes": list(self.notes),
            "environment": [difference.to_json() for difference in self.environment],
            "rows": [row.to_json() for row in self.rows],
        }

    @classmethod
    def from_json(cls, written: Any) -> Comparison:
        """The comparison that `to_json` wrote. The file may come from anywhere: every field is checked."""
        from pydantic import TypeAdapter, ValidationError

        from assay.analysis.conditions import Difference

        model = TypeAdapter(cls)
        model.rebuild(_types_namespace={**globals(), "Difference": Difference})
        try:
            comparison = model.validate_python(written)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            raise DataError(f"{'.'.join(map(str, first['loc'])) or 'it'}: {first['msg']}") from None
        return replace(comparison, missing_base=written.get("answer") == "no baseline yet")
