"""One line a store over every scenario and dtype of a run: which to choose."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from assay.benchmarks.weights.results import ResultLine

if TYPE_CHECKING:
    from assay.benchmarks.weights.results import BenchmarkResults, SuiteResult


Columns = Mapping[str, str | Callable[[ResultLine], str]]
"""Head → what `ResultLine.cell` fills in, such as `{compression_ratio:.2f}x`, or a function that writes the cell."""


@dataclass(frozen=True)
class Table:
    """A table as it is printed: a title, a box drawn around the columns, and what its figures mean below it."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    interpretation: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        title: str,
        columns: Columns,
        lines: Iterable[ResultLine],
        interpretation: tuple[str, ...] = (),
        notes: tuple[str, ...] = (),
    ) -> Table:
        rows = [
            tuple(line.cell(each) if isinstance(each, str) else each(line) for each in columns.values())
            for line in lines
        ]
        return cls(title, tuple(columns), tuple(rows), interpretation, notes)

    def __str__(self) -> str:
        cells = [self.columns, *self.rows]
        widths = [max(len(row[i]) for row in cells) for i in range(len(self.columns))]
        lines = [
            f"{self.title}:",
            _rule(("┌", "┬", "┐"), widths),
            _line(self.columns, widths),
            _rule(("├", "┼", "┤"), widths),
        ]
        lines += [_line(row, widths) for row in self.rows]
        lines.append(_rule(("└", "┴", "┘"), widths))
        if self.interpretation:
            lines += ["", "Interpretation:", *(f"- {line}" for line in self.interpretation)]
        lines += [f"note: {note}" for note in self.notes]
        return "\n".join(lines)


def _rule(corners: tuple[str, str, str], widths: Sequence[int]) -> str:
    left, middle, right = corners
    return left + middle.join("─" * (width + 2) for width in widths) + right


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "│" + "│".join(f" {cell:<{width}} " for cell, width in zip(cells, widths, strict=True)) + "│"


STRATEGIES = {"kmeans": "K-means", "hierarchical": "Hierarchical", "adaptive": "Adaptive"}
EFFICIENCY: Columns = {
    "Strategy": lambda line: STRATEGIES[line.labels["strategy"]],
    "Clusters": "{clusters}",
    "Compression": "{compression_ratio:.2f}x",
    "Improvement": "{compression_improvement:.2f}x",
    "Time (s)": "{clustering_time:.3f}",
    "Silhouette": "{silhouette:.2f}",
    "Davies-Bouldin": "{davies_bouldin:.2f}",
    "Families": "{adjusted_rand:.2f}",
    "Memory": "{memory_overhead:.1f}%",
    "Time Exponent": "{time_exponent:.2f} [{time_exponent_low:.2f}, {time_exponent_high:.2f}]",
}
DETAILS: Columns = {
    "Case": lambda line: line.cell(
        "members {step} apart" if "step" in line.labels else "models of {added} families added"
    ),
    "Strategy": lambda line: STRATEGIES[line.labels["strategy"]],
    "Clusters": "{clusters}",
    "Families": "{adjusted_rand:.2f}",
    "Silhouette": "{silhouette:.2f}",
    "Rebalance / Anew": "{of_whole_time:.2f}x",
}


def strategies_table(result: SuiteResult) -> Table:
    return Table.of("Clustering Efficiency", EFFICIENCY, [_line_of(result, strategy) for strategy in STRATEGIES])


def details_table(result: SuiteResult, interpretation: tuple[str, ...]) -> Table:
    lines = [line for line in result.lines() if "step" in line.labels or "added" in line.labels]
    table = Table.of("Cluster Quality and Rebalancing", DETAILS, lines, interpretation, result.notes)
    return replace(table, rows=tuple(sorted(table.rows)))


def _line_of(result: SuiteResult, strategy: str) -> ResultLine:
    """Readings of a strategy in both scenarios, without the points of a scan; the first of several stores."""
    found = ResultLine({"strategy": strategy})
    for scenario in ("strategy_comparison", "scalability"):
        for line in result.lines():
            if line.scenario == scenario and line.labels["strategy"] == strategy and "point" not in line.labels:
                found.metrics.update({**line.metrics, **found.metrics})
    return found


TITLES = {
    "model_size": "Model Size",
    "repository_size": "Repository Size",
    "concurrent_access": "Concurrent Access",
    "hardware_utilization": "Hardware",
}
POINTS: Columns = {
    "Scenario": lambda line: TITLES[line.scenario],
    "Store": "{store}",
    "Point": "{point}",
    "Commit": "{commit_speed:,.0f} MB/s",
    "Checkout": "{checkout_speed:,.0f} MB/s",
    "CPU": "{cores_used:.2f} cores",
    "Bottleneck": "{bottleneck}",
}
FITS: Columns = {
    "Scenario": lambda line: TITLES[line.scenario],
    "Store": "{store}",
    "Commit Exponent": "{commit_exponent:.2f} [{commit_exponent_low:.2f}, {commit_exponent_high:.2f}]",
    "Checkout Exponent": "{checkout_exponent:.2f} [{checkout_exponent_low:.2f}, {checkout_exponent_high:.2f}]",
    "Commit Degrades": "{commit_degrades_at}",
    "Checkout Degrades": "{checkout_degrades_at}",
}


def points_table(result: SuiteResult) -> Table:
    return Table.of("Scalability Points", POINTS, [line for line in result.lines() if "point" in line.labels])


def fits_table(result: SuiteResult, interpretation: tuple[str, ...]) -> Table:
    lines = [line for line in result.lines() if "point" not in line.labels]
    efficiency = tuple(
        f"{line.store}: {line['parallel_efficiency']:.0%} of ideal speed-up with the most users"
        for line in lines
        if "parallel_efficiency" in line
    )
    return Table.of("Scaling Coefficients", FITS, lines, interpretation, (*result.notes, *efficiency))


OLDER = "coral-ml"
OURS = "assay-balanced"
COLUMNS = (
    "Store",
    "Compression",
    "Of Limit (worst)",
    "Commit (worst)",
    "Checkout (worst)",
    "Wrong Tensors",
    "Accuracy Cases",
)


def comparison(results: BenchmarkResults) -> list[Table]:
    """Nothing with fewer than two stores."""
    suites = {suite.suite: suite for suite in results.suites}
    compression = suites.get("compression")
    if compression is None or len(compression.stores) < 2:
        return []
    answers = _answers(suites.get("accuracy"))
    rows = tuple(
        (store, *_cells([line for line in compression.lines() if line.store == store]), answers.get(store, "-"))
        for store in compression.stores
    )
    notes = (
        "compression: geometric mean over scenarios and dtypes; the others: median and worst",
        "commit and checkout: bytes per CPU-second over those of plain safetensors in the same run",
        *_against_older(compression),
    )
    return [Table("Store Comparison", COLUMNS, rows, (), notes), _ratio_table(compression)]


def _cells(lines: Sequence[ResultLine]) -> Iterable[str]:
    def figures(what: str) -> list[float]:
        return [line[what] for line in lines if what in line]

    yield f"{np.exp(np.mean(np.log(figures('compression_ratio')))):.2f}x"
    yield _median_and_worst(figures("of_limit"), "{:.1f}%")
    yield _median_and_worst(figures("commit_of_safetensors"), "{:.3f}x")
    yield _median_and_worst(figures("checkout_of_safetensors"), "{:.3f}x")
    yield str(sum(figures("wrong_tensors")) or "none")


def _median_and_worst(values: Sequence[float], form: str) -> str:
    return f"{form.format(np.median(values))} ({form.format(min(values))})" if values else "-"


def _answers(accuracy: SuiteResult | None) -> dict[str, str]:
    counts: dict[str, list[int]] = {}
    for line in accuracy.lines() if accuracy else ():
        if "cases" in line:
            total = counts.setdefault(line.store, [0, 0, 0])
            for place, what in enumerate(("cases", "wrong_cases", "refused_cases")):
                total[place] += line[what]
    return {
        store: f"{cases} exact" if not wrong + refused else f"{wrong} of {cases} WRONG, {refused} refused"
        for store, (cases, wrong, refused) in counts.items()
    }


def _ratio_table(suite: SuiteResult) -> Table:
    cells: dict[tuple[str, str], dict[str, str]] = {}
    for line in suite.lines():
        place = cells.setdefault((line.scenario, line.labels["dtype"]), {})
        place[line.store] = line.cell("{compression_ratio:.2f}")
        place["limit"] = line.cell("{limit_ratio:.2f}")
    rows = tuple((*case, *(found.get(name, "-") for name in ("limit", *suite.stores))) for case, found in cells.items())
    return Table("Compression by Scenario", ("Scenario", "Dtype", "Limit", *suite.stores), rows)


def _against_older(suite: SuiteResult) -> Iterable[str]:
    """How many times as fast ours is, scenario by scenario, as the store that the suites were written for."""
    for what in ("commit", "checkout"):
        speeds: dict[str, dict[tuple[str, str], float]] = {OURS: {}, OLDER: {}}
        for line in suite.lines():
            if line.store in speeds and f"{what}_speed" in line:
                speeds[line.store][line.scenario, line.labels["dtype"]] = line[f"{what}_speed"]
        times = [speeds[OURS][case] / speeds[OLDER][case] for case in speeds[OURS].keys() & speeds[OLDER].keys()]
        if times:
            yield (
                f"{OURS} against {OLDER}, {what}, per CPU-second: "
                f"{np.median(times):.1f} times as fast (worst {min(times):.1f}, best {max(times):.1f})"
            )
