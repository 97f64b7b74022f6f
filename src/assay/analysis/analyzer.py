from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.analysis.compare_records import compare_sessions, rules_for
from assay.analysis.comparison import Comparison, Row, Verdict
from assay.analysis.conditions import also_different, with_surroundings
from assay.analysis.insights import Insight, extract, recommendations
from assay.analysis.read_results import is_results_folder, read_any_results
from assay.analysis.rules import Rules
from assay.analysis.sentences import summary_sentences as said
from assay.history import find_session
from assay.record import Record


def summary_lines(comparison: Comparison, most: int = 12) -> list[str]:
    """What changed, in a few lines of plain text: regressions first, then improvements, then what could not be told,
    then what else differs."""
    return [*reason_lines(comparison, most), *context_lines(comparison)]


def reason_lines(comparison: Comparison, most: int = 12) -> list[str]:
    """The same without what else differs."""
    changed = [
        *comparison.regressed,
        *comparison.of(Verdict.IMPROVED),
        *(row for row in comparison.of(Verdict.NOT_COMPARABLE) if row.unordered),
    ]
    lines = [_line(row) for row in changed[:most]]
    if len(changed) > most:
        lines.append(said.more(len(changed) - most, comparison.base, comparison.head))
    counts = comparison.counts
    rest = {
        str(verdict): counts[verdict]
        for verdict in (Verdict.EQUIVALENT, Verdict.INCONCLUSIVE, Verdict.NOT_COMPARABLE)
        if counts[verdict]
    }
    if rest:
        lines.append(said.rest(comparison.base, rest, compared=comparison.compared, changes=bool(changed)))
    return [*lines, *_why_not(comparison), *comparison.notes]


def context_lines(comparison: Comparison) -> list[str]:
    """What else differs, in a line."""
    besides = also_different(comparison.environment, most=3)
    return [besides] if besides else []


def _line(row: Row) -> str:
    metric = f"{row.entry} {row.metric}"
    if row.unordered:
        return said.change_without_order(metric, row.reason)
    line = said.change(row.verdict, metric, row.words, (row.before, row.head), row.ratio, (row.low, row.high))
    return "; ".join([line, *row.notes])


def _why_not(comparison: Comparison) -> list[str]:
    """The commonest reason of what stayed open, since it is the one to do something about."""
    reasons = Counter(row.reason for row in comparison.of(Verdict.INCONCLUSIVE) if not row.unordered)
    return [said.why_open(count, reasons.total(), reason) for reason, count in reasons.most_common(1)]


@dataclass(frozen=True)
class Results:
    """What `load_results` gives: a session, or the folder that one program wrote."""

    name: str
    folder: Path
    records: tuple[Record, ...]

    def metrics(self, entry: str | None = None) -> dict[str, Any]:
        """Values by metric of the last run that counts, of this entry if one is named; empty where no run counts."""
        runs = [run for run in self.records if run.counts and entry in (None, run.name)]
        return {name: metric.value for name, metric in runs[-1].metrics.items()} if runs else {}


class BenchmarkAnalyzer:
    """Results in scripts and notebooks: loads them, compares two, says what stands out and what to do.

    analyzer = BenchmarkAnalyzer()
    comparison = analyzer.compare_results("baseline", "feature")
    comparison["regression_detected"]   # True, False, or None where it cannot be told; comparison["reason"] says why
    """

    def __init__(self, results_dir: str | Path | None = None, rules: Rules | None = None) -> None:
        self._results_dir = Path(results_dir or os.environ.get("ASSAY_RESULTS_DIR") or "results")
        self._rules = rules or rules_for(self._results_dir)

    def load_results(self, where: str | Path) -> Results:
        """A session's folder or name, `latest`, a git revision, or the folder of a program that was run alone."""
        path = Path(where)
        if is_results_folder(path):
            return Results(path.name, path, read_any_results(path))
        folder = find_session(str(where), self._results_dir)
        return Results(folder.info().name, folder.path, tuple(folder.records()))

    def compare(self, base: str | Path | Results, head: str | Path | Results, **options: Any) -> Comparison:
        """The same as `assay compare`, as an object; options are those of `assay.analysis.compare`."""
        before, after = (side if isinstance(side, Results) else self.load_results(side) for side in (base, head))
        comparison = compare_sessions(
            before.records, after.records, self._results_dir, names=(before.name, after.name),
            **{"rules": self._rules, **options},
        )  # fmt: skip
        return with_surroundings(comparison, before.records, after.records, [before.folder], [after.folder])

    def compare_results(self, base: str | Path | Results, head: str | Path | Results, **options: Any) -> dict[str, Any]:
        return self.compare(base, head, **options).to_json()

    def extract_insights(self, results: Results | Sequence[Record] | str | Path) -> list[Insight]:
        if isinstance(results, str | Path):
            results = self.load_results(results)
        if isinstance(results, Results):
            return extract(results.records, results.folder)
        return extract(results)

    def generate_recommendations(self, results: Results | Sequence[Record] | str | Path) -> list[str]:
        return recommendations(self.extract_insights(results))
