"""Whether what comes back is what was stored, to the last bit, and whether damage is noticed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np

from assay.benchmarks.weight_probes.corruption import FEWEST, flip_bytes
from assay.benchmarks.weight_scenarios.accuracy_cases import (
    AccuracyCase,
    CaseVerdict,
    bit_perfect,
    edge_cases,
    judge,
    judge_in_second_process,
    judge_merge,
    numerical_stability,
)
from assay.benchmarks.weight_scenarios.scenario_config import ScenarioConfig
from assay.benchmarks.weights.results import Readings, ResultLine, SuiteResult
from assay.benchmarks.weights.suite import BenchmarkSuite
from assay.benchmarks.weights.tables import Columns, Table

CASES: dict[str, Callable[[np.random.Generator], Iterator[AccuracyCase]]] = {
    "bit_perfect": bit_perfect,
    "numerical_stability": numerical_stability,
    "edge_cases": edge_cases,
}
TITLES = {
    "bit_perfect": "Bit-Perfect",
    "numerical_stability": "Numerical Stability",
    "edge_cases": "Edge Cases",
    "data_integrity": "Data Integrity",
}
FAILURES = {
    "wrong_cases": "cases came back inexact",
    "refused_cases": "cases were refused",
    "silent": "flipped bytes were read as if nothing had happened",
}
"""Counts that must be zero under `--strict`."""
FLIPS_PER_ITERATION = 40


def _found(line: ResultLine) -> str:
    """Share of a scenario: of damages that were noticed, or of values that came back."""
    if "flips" not in line:
        return line.cell("{reconstruction_accuracy:.4g}%")
    if "corruption_detected" not in line:
        return "too few flips to say"
    return line.cell(
        "{corruption_detected:.1f}% found ({corruption_detected_low:.0f} to {corruption_detected_high:.0f}%)"
    )


COLUMNS: Columns = {
    "Check": lambda line: TITLES[line.scenario],
    "Store": "{store}",
    "Accuracy": _found,
    "Exact": lambda line: line.cell(
        "{silent} silent of {flips} flips ({harmless} harmless)"
        if "flips" in line
        else "{exact_cases} of {cases} cases exact"
    ),
    "Not Exact": "{wrong_cases} wrong, {refused_cases} refused",
    "Largest Error": "{max_ulp_error:.3g} ulp, {max_abs_error:.2g}",
}


class AccuracySuite(BenchmarkSuite):
    name = "accuracy"
    interpretation = (
        "Reconstruction accuracy must be 100%: anything less is another model than the one that was stored",
        "Wrong: came back changed and without an error; refused: answered with an error, nothing came back",
        "Damage found: of the flipped bytes that changed what is read, those that raised an error; its 95% interval",
        f"Too few flips to say: fewer than {FEWEST} that changed what is read, so no rate is given",
        "Largest error: in units in the last place and as a number; 0 for a store that loses nothing",
    )

    def get_scenarios(self) -> list[str]:
        return list(TITLES)

    def estimate(self, name: str, config: ScenarioConfig) -> float:
        start = config.machine.process_start_s + 0.8
        return len(config.stores) * (start + (2.0 if name != "data_integrity" else 0.4 * config.iterations))

    def run_scenario(self, name: str, config: ScenarioConfig) -> Readings:
        readings = Readings()
        for number, store in enumerate(config.stores):
            with config.scratch() as folder:
                if name == "data_integrity":
                    budget = config.budget.part(1 / (len(config.stores) - number))
                    here = readings.at(store=store)
                    flips = FLIPS_PER_ITERATION * config.iterations
                    result = flip_bytes(store, folder, flips, budget, config.settings, config.seed)
                    rate = result.detection_rate
                    if rate is not None:
                        here.add("corruption_detected", 100 * rate.estimate, "%", "higher")
                        here.add("corruption_detected_low", 100 * rate.low, "%")
                        here.add("corruption_detected_high", 100 * rate.high, "%")
                    for what in ("flips", "detected", "crashed", "harmless", "silent"):
                        here.add(what, getattr(result, what), None)
                else:
                    _add(readings, store, _verdicts(name, store, folder, config))
        return readings

    def failures(self, result: SuiteResult, strict: bool) -> Iterable[str]:
        for line in result.lines() if strict else ():
            for what, said in FAILURES.items():
                if count := line.get(what):
                    yield f"{line.store}, {TITLES[line.scenario]}: {count} {said}"

    def tables(self, result: SuiteResult) -> Iterable[Table]:
        yield Table.of("Accuracy Validation", COLUMNS, result.lines(), self.interpretation, result.notes)


def _verdicts(name: str, store: str, folder: Path, config: ScenarioConfig) -> list[CaseVerdict]:
    cases = list(CASES[name](np.random.default_rng(config.seed)))
    judged = [(case, judge(store, case, folder / str(i), config.settings)) for i, case in enumerate(cases)]
    elsewhere: dict[str, list[str]] = {}
    for case_name, problem in judge_in_second_process(store, judged, config.settings):
        elsewhere.setdefault(case_name, []).append(problem)
    verdicts = [_with_problems(verdict, elsewhere.get(case.name, [])) for case, verdict in judged]
    if name == "edge_cases":
        verdicts += judge_merge(store, folder / "merge", config.settings)
    return verdicts


def _with_problems(verdict: CaseVerdict, problems: list[str]) -> CaseVerdict:
    from dataclasses import replace

    # A case that is wrong at home is wrong abroad; what is new is a second process that sees something else.
    return verdict if not verdict.exact or not problems else replace(verdict, wrong=tuple(problems))


def _add(readings: Readings, store: str, verdicts: list[CaseVerdict]) -> None:
    here = readings.at(store=store)
    values, inexact = sum(v.values for v in verdicts), sum(v.inexact_values for v in verdicts)
    wrong = [verdict for verdict in verdicts if verdict.wrong]
    refused = [verdict for verdict in verdicts if verdict.refused and not verdict.wrong]
    here.add("reconstruction_accuracy", 100 * (1 - inexact / max(1, values)), "%", "higher", exact=True)
    here.add("cases", len(verdicts), None, exact=True)
    here.add("exact_cases", sum(verdict.exact for verdict in verdicts), None, "higher", exact=True)
    here.add("wrong_cases", len(wrong), None, "lower", exact=True)
    here.add("refused_cases", len(refused), None, "lower", exact=True)
    here.add("inexact_values", inexact, None, "lower", exact=True)
    here.add("max_abs_error", max(v.largest_error for v in verdicts), None, "lower", exact=True)
    here.add("max_ulp_error", max(v.largest_ulp for v in verdicts), "ulp", "lower", exact=True)
    if wrong:
        names = "; ".join(verdict.case for verdict in wrong)
        readings.note(f"{store} returned WRONG weights, silently, for: {names} (the first: {wrong[0].wrong[0]})")
    if refused:
        names = "; ".join(verdict.case for verdict in refused)
        readings.note(f"{store} refused: {names} (the first: {refused[0].refused[0]})")


if __name__ == "__main__":
    from assay.benchmarks.weights.program import main

    raise SystemExit(main("accuracy"))
