from __future__ import annotations

from assay.benchmarks.weights.tables.result import SuiteResult
from assay.benchmarks.weights.tables.table import Columns, Table

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
