"""Poor scaling: as a benchmark measured it itself, or over the entries of a session that differ in one number."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from statistics import median

from assay.analysis.insights.insight import EntryRuns, Insight
from assay.analysis.sentences import insight_sentences as said
from assay.stats.scaling import fit_power_law, parallel_efficiency

STEEP = 1.1
"""Cost that grows with this power of the size and more is called super-linear; log factors stay below it."""
EFFICIENT = 0.7
_WORKERS = re.compile(r"(^|_)(workers?|cpus?|cores|threads|processes|gpus?|actors|replicas|concurrency|parallelism)$")


def find_steep_scaling(entry: EntryRuns) -> Iterator[Insight]:
    for name, exponent in entry.ending("_exponent"):
        low, high = entry.number(f"{name}_exponent_low"), entry.number(f"{name}_exponent_high")
        if low is not None and low > STEEP:
            yield _steep(entry.name, name, exponent, low, high if high is not None else exponent)
    for name, _ in entry.ending("parallel_efficiency"):
        efficiency = entry.share(f"{name}parallel_efficiency")
        if efficiency is not None and efficiency < EFFICIENT:
            yield _inefficient(entry.name, name.strip(".") or "workers", efficiency)


def sweep_scaling(entries: Sequence[EntryRuns]) -> Iterator[Insight]:
    """Entries of one program whose parameters differ in one number only."""
    for name, group in _sweeps(entries):
        sizes = [float(entry.runs[-1].script_params[name]) for entry in group]
        times = [median(run.exec_time_s for run in entry.runs) for entry in group]
        if min(times) <= 0 or len(set(sizes)) < 3:
            continue
        label = ", ".join(entry.name for entry in group)
        if _WORKERS.search(name):
            efficiency = parallel_efficiency(sizes, [1 / time for time in times])
            if efficiency < EFFICIENT:
                yield _inefficient(label, name, efficiency)
            continue
        fit = fit_power_law(sizes, times)
        if fit.grows_faster_than(STEEP):
            yield _steep(label, f"time over {name}", fit.exponent, fit.low, fit.high)


def _sweeps(entries: Sequence[EntryRuns]) -> Iterator[tuple[str, list[EntryRuns]]]:
    numeric: dict[tuple[str, str, str], list[EntryRuns]] = {}
    for entry in entries:
        run = entry.runs[-1]
        for name, value in run.script_params.items():
            if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
                continue
            rest = str(sorted((k, str(v)) for k, v in run.script_params.items() if k != name and not _a_path(v)))
            numeric.setdefault((run.fingerprint.workload, name, rest), []).append(entry)
    for (_, name, _), group in numeric.items():
        if len(group) >= 3:
            yield name, group


def _a_path(value: object) -> bool:
    return isinstance(value, str) and "/" in value


def _steep(entry: str, what: str, exponent: float, low: float, high: float) -> Insight:
    return Insight(
        "scaling", entry, *said.steep(what, exponent, low, high),
        numbers={"exponent": exponent, "low": low, "high": high},
    )  # fmt: skip


def _inefficient(entry: str, name: str, efficiency: float) -> Insight:
    return Insight(
        "scaling", entry, *said.inefficient(name, efficiency),
        numbers={"efficiency": efficiency},
    )  # fmt: skip
