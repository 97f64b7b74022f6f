from __future__ import annotations

from dataclasses import replace

from assay.benchmarks.weights.tables.readings import ResultLine
from assay.benchmarks.weights.tables.result import SuiteResult
from assay.benchmarks.weights.tables.table import Columns, Table

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
