"""One line a store over every scenario and dtype of a run: which to choose."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from assay.benchmarks.weights.tables.readings import ResultLine
from assay.benchmarks.weights.tables.result import BenchmarkResults, SuiteResult
from assay.benchmarks.weights.tables.table import Table

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
