"""One line a store over every scenario and dtype of a run: which to choose."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from assay.benchmarks.weights.tables.result import BenchmarkResults, SuiteResult
from assay.benchmarks.weights.tables.table import Table

OLDER = "coral-ml"
OURS = "assay-balanced"


@dataclass(frozen=True)
class Line:
    """Figures of one store, in the order of the scenarios and dtypes they were taken in."""

    store: str
    ratios: tuple[float, ...]
    of_limit: tuple[float, ...]
    commit: tuple[float, ...]
    """Bytes per CPU-second over those of safetensors."""
    checkout: tuple[float, ...]
    wrong_tensors: int

    def cells(self) -> tuple[str, ...]:
        return (
            self.store,
            f"{_geometric(self.ratios):.2f}x",
            f"{np.median(self.of_limit):.1f}% ({min(self.of_limit):.1f}%)",
            _median_and_worst(self.commit),
            _median_and_worst(self.checkout),
            str(self.wrong_tensors) if self.wrong_tensors else "none",
        )


def comparison(results: BenchmarkResults) -> list[Table]:
    """Nothing with fewer than two stores."""
    suites = {suite.suite: suite for suite in results.suites}
    if "compression" not in suites:
        return []
    lines = list(_lines(suites["compression"]))
    if len(lines) < 2:
        return []
    answers = _answers(suites.get("accuracy"))
    rows = tuple((*line.cells(), answers.get(line.store, "-")) for line in lines)
    columns = (
        "Store",
        "Compression",
        "Of Limit (worst)",
        "Commit (worst)",
        "Checkout (worst)",
        "Wrong Tensors",
        "Accuracy Cases",
    )
    notes = (
        "compression: geometric mean over scenarios and dtypes; the others: median and worst",
        "commit and checkout: bytes per CPU-second over those of plain safetensors in the same run",
        *_against_older(suites["compression"]),
    )
    return [Table("Store Comparison", columns, rows, (), notes), _ratio_table(suites["compression"], lines)]


def _lines(suite: SuiteResult) -> Iterable[Line]:
    figures: dict[str, dict[str, list[float]]] = {}
    for line in suite.lines():
        for what, metric in line.metrics.items():
            figures.setdefault(line.store, {}).setdefault(what, []).append(metric.value)
    for store, found in figures.items():
        yield Line(
            store,
            tuple(found["compression_ratio"]),
            tuple(found["of_limit"]),
            tuple(found.get("commit_of_safetensors", ())),
            tuple(found.get("checkout_of_safetensors", ())),
            int(sum(found["wrong_tensors"])),
        )


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


def _ratio_table(suite: SuiteResult, lines: list[Line]) -> Table:
    stores = [line.store for line in lines]
    cells: dict[tuple[str, str], dict[str, str]] = {}
    for line in suite.lines():
        place = cells.setdefault((line.scenario, line.labels["dtype"]), {})
        place[line.store] = line.cell("{compression_ratio:.2f}")
        place["limit"] = line.cell("{limit_ratio:.2f}")
    rows = tuple(
        (scenario, dtype, *(found.get(name, "-") for name in ("limit", *stores)))
        for (scenario, dtype), found in cells.items()
    )
    return Table("Compression by Scenario", ("Scenario", "Dtype", "Limit", *stores), rows)


def _against_older(suite: SuiteResult) -> Iterable[str]:
    """How many times as fast ours is, scenario by scenario, as the store that the suites were written for."""
    speeds: dict[tuple[str, str, str], dict[str, float]] = {}
    for line in suite.lines():
        for what in ("commit", "checkout"):
            if f"{what}_speed" in line:
                speeds.setdefault((line.scenario, line.labels["dtype"], what), {})[line.store] = line[f"{what}_speed"]
    for what in ("commit", "checkout"):
        times = [
            found[OURS] / found[OLDER]
            for key, found in speeds.items()
            if key[2] == what and {OURS, OLDER} <= found.keys()
        ]
        if times:
            yield (
                f"{OURS} against {OLDER}, {what}, per CPU-second: "
                f"{np.median(times):.1f} times as fast (worst {min(times):.1f}, best {max(times):.1f})"
            )


def _median_and_worst(values: tuple[float, ...]) -> str:
    return f"{np.median(values):.3f}x ({min(values):.3f}x)" if values else "-"


def _geometric(values: tuple[float, ...]) -> float:
    return float(np.exp(np.mean(np.log(values))))
