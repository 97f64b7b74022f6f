"""Poor scaling: as a benchmark measured it itself, or over the entries of a session that differ in one number."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import fsum, isfinite
from statistics import median
from typing import Any

from assay.analysis.colocation.slowdown import BEHIND, KNEE
from assay.analysis.insights.insight import LEAST, EntryRuns, Insight, wall_seconds
from assay.analysis.sentences import insight_sentences as said
from assay.record import TaskPerfUtils
from assay.record.task import STANDS_FOR
from assay.stats.fits import fit_power_law, parallel_efficiency

SHARE = 0.5
_TIMES = ("process_time", "wall_time", "duration", "cpu_time")
_LABEL = re.compile(r"(?P<pipeline>.+?)(?P<alone> alone)?(?: beside .+)?", re.DOTALL)
"""How the runs of a matrix are labelled: `api alone`, `api beside batch`."""


@dataclass(frozen=True)
class _Stage:
    seconds: float
    calls: int


def bottleneck(entry: EntryRuns) -> Iterator[Insight]:
    """One stage takes more than half of the time of all stages, and enough of the run's to matter."""
    stages = _stages(entry)
    pipelines = _pipelines(stages)
    if "" not in pipelines:
        for pipeline, own in pipelines.items():
            yield from _in_pipeline(entry, pipeline, own)
        return
    slowest = _slowest(stages)
    if slowest is None:
        return
    seconds, everything = stages[slowest].seconds, _sum(stages)
    share, wall = seconds / everything, wall_seconds(entry)
    # Stages that ran at the same time add up to more than the clock: their sum is then all that is known of the whole.
    of_run = seconds / max(wall, everything)
    if of_run < LEAST:
        return
    # Amdahl: with this stage twice as fast, all of it would take so much less, what no stage accounts for included.
    gain = 1 / (1 - of_run / 2)
    text = said.slow_stage(
        slowest, share, len(stages), seconds=seconds, everything=everything, calls=stages[slowest].calls, wall=wall,
        gain=gain,
    )  # fmt: skip
    yield Insight(
        "bottleneck", entry.name, *text,
        numbers={"share": share, "seconds": seconds, "gain_if_twice_as_fast": gain},
    )  # fmt: skip


def _in_pipeline(entry: EntryRuns, pipeline: str, stages: Mapping[str, _Stage]) -> Iterator[Insight]:
    """The insight about one of several pipelines. Side by side they are no whole: the run's time is left out."""
    slowest = _slowest(stages)
    if slowest is None:
        return
    seconds, everything = stages[slowest].seconds, _sum(stages)
    share = seconds / everything
    yield Insight(
        "bottleneck", entry.name,
        *said.slow_stage_of_pipeline(
            pipeline, slowest, share, len(stages), seconds=seconds, everything=everything, calls=stages[slowest].calls
        ),
        numbers={"share": share, "seconds": seconds},
    )  # fmt: skip


def _slowest(stages: Mapping[str, _Stage]) -> str | None:
    """The stage that takes more than half, if there are others."""
    everything = _sum(stages)
    if len(stages) < 2 or everything <= 0:
        return None
    slowest = max(stages, key=lambda stage: stages[stage].seconds)
    return slowest if stages[slowest].seconds >= SHARE * everything else None


def _sum(stages: Mapping[str, _Stage]) -> float:
    return fsum(stage.seconds for stage in stages.values())


def _pipelines(stages: Mapping[str, _Stage]) -> dict[str, dict[str, _Stage]]:
    """Pipelines beside each other name their stages `pipeline/stage`. Of one that ran alone too, alone is taken."""
    if not all("/" in name for name in stages):
        return {"": dict(stages)}
    by_label: dict[str, dict[str, _Stage]] = {}
    for name, stage in stages.items():
        label, _, own = name.partition("/")
        by_label.setdefault(label, {})[own] = stage
    found: dict[str, dict[str, _Stage]] = {}
    for label, own_stages in by_label.items():
        named = _LABEL.fullmatch(label)
        pipeline = named["pipeline"] if named else label
        if pipeline not in found or (named and named["alone"]):
            found[pipeline] = own_stages
    return found if len(by_label) > 1 else {"": dict(stages)}


def _stages(entry: EntryRuns) -> dict[str, _Stage]:
    collected = TaskPerfUtils.collect_stage_metrics([task for run in entry.runs for task in run.tasks])
    found = {stage: _measure_stage(metrics) for stage, metrics in collected.items()}
    return {stage: measured for stage, measured in found.items() if measured.seconds > 0}


def _measure_stage(metrics: Mapping[str, list[float]]) -> _Stage:
    values = next((metrics[name] for name in _TIMES if name in metrics), [])
    standing = metrics.get(STANDS_FOR, [])
    weights = standing if len(standing) == len(values) else [1.0] * len(values)
    timed = [(v, n) for v, n in zip(values, weights, strict=True) if isfinite(v) and v > 0 and isfinite(n) and n > 0]
    return _Stage(fsum(v * n for v, n in timed), round(fsum(n for _, n in timed)))


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


# Load past the knee: latency that rises out of proportion, or work that is not kept up with.

_LOADS = ("rate", "asked_rate", "offered", "offered_rate", "load", "concurrency")
_LATENCIES = ("p99", "p99_s", "p99_ms", "p95", "p95_s", "p95_ms", "p50")
_DONE = ("throughput", "completed_rate", "achieved", "achieved_rate")


def past_the_knee(entry: EntryRuns) -> Iterator[Insight]:
    for name, metric in entry.metrics.items():
        if isinstance(metric.value, list) and len(metric.value) >= 3:
            yield from _curve(entry.name, name, metric.value)
    for name, asked in entry.ending("offered_rate"):
        done = entry.number(f"{name}throughput")
        if done is not None and 0 < done < BEHIND * asked:
            yield _behind(entry.name, name.rstrip("._"), asked, done)


def _curve(entry: str, name: str, rows: Sequence[Any]) -> Iterator[Insight]:
    if not all(isinstance(row, Mapping) for row in rows):
        return
    load, latency = _common(rows, _LOADS), _common(rows, _LATENCIES)
    if load is None or latency is None:
        return
    ordered = sorted(rows, key=lambda row: float(row[load]))
    lowest = float(ordered[0][latency])
    done = _common(rows, _DONE)
    asked = _rate_asked(ordered[0], load)
    if done is not None and load != "concurrency" and float(ordered[0][done]) < BEHIND * asked:
        # Past the knee from the first: no load that was measured may be advised.
        at = f"{name} at {load} {ordered[0][load]:g}, the lowest measured,"
        yield _behind(entry, at, asked, float(ordered[0][done]))
        return
    for before, row in pairwise(ordered):
        late = lowest > 0 and float(row[latency]) > KNEE * lowest
        behind = done is not None and load != "concurrency" and float(row[done]) < BEHIND * _rate_asked(row, load)
        if late or behind:
            short = f"{row[done]:.3g} of {_rate_asked(row, load):.3g} a second at {row[load]:g}; " if behind else ""
            knee = float(before[load])
            highest = float(ordered[-1][load])
            yield Insight(
                "load", entry, *said.knee(
                    name, load, knee, highest,
                    f"{short}{latency} {lowest:.3g} at {ordered[0][load]:g}, {row[latency]:.3g} at {row[load]:g}",
                ),
                numbers={"knee": knee, "highest": highest, "lowest_latency": lowest, "latency": float(row[latency])},
            )  # fmt: skip
            return


def _rate_asked(row: Mapping[str, Any], load: str) -> float:
    """What the schedule asked for; a drawn one asks for a little more or less than its rate."""
    return float(row["offered"] if load == "rate" and _number(row.get("offered")) else row[load])


def _behind(entry: str, name: str, asked: float, done: float) -> Insight:
    return Insight(
        "load", entry, *said.falls_behind(name, asked, done),
        numbers={"asked": asked, "done": done},
    )  # fmt: skip


def _common(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> str | None:
    return next((name for name in names if all(_number(row.get(name)) for row in rows)), None)


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


SLOWED = 1.1
_NAME = re.compile(r"^slowdown\.(?P<who>.+)\.beside\.(?P<other>.+)\.(?P<what>[a-z0-9_]+)$")


def interference(entry: EntryRuns) -> Iterator[Insight]:
    """A pipeline beside another is slower than alone, and the whole interval says so."""
    for name, metric in entry.metrics.items():
        found = _NAME.match(name)
        value = metric.number
        if found is None or value is None or found["what"] in ("low", "high"):
            continue
        if found["what"] == "p50" and f"{name.removesuffix('p50')}p99" in entry.metrics:
            # The tail says it, and says it once.
            continue
        low, high = entry.number(f"{name}.low"), entry.number(f"{name}.high")
        if low is None or low <= 1 or value < SLOWED:
            continue
        beside = "" if found["other"] == found["who"] else found["other"]
        yield Insight(
            "interference", entry.name,
            *said.slowdown(found["who"], found["what"], beside, value, low, high, _rounds(entry)),
            numbers={"slowdown": value, "low": low},
        )  # fmt: skip


def _rounds(entry: EntryRuns) -> str:
    """An interval of one round holds only what its parts differ by."""
    params = entry.runs[-1].script_params
    rounds = params.get("repeat") if params.get("matrix") is True else None
    if not isinstance(rounds, int):
        return ""
    return ", of one round" if rounds == 1 else f", over {rounds} rounds"


NEAR = 0.9
"""Share of the compression that the entropy of the data allows; from here on nothing is said."""
OURS = "assay-"
"""How the names of our own store begin; the word after it is its setting."""
SMALLEST = "assay-small"


def compression(entry: EntryRuns) -> Iterator[Insight]:
    for name, _ in entry.ending("of_limit"):
        stem = name.rstrip("._") or entry.name
        share = entry.share(f"{name}of_limit")
        if share is None or not 0 < share < NEAR:
            continue
        ratio, limit = (entry.number(f"{name}{metric}") for metric in ("compression_ratio", "limit_ratio"))
        advice = _advice(entry, name)
        yield Insight(
            "compression", entry.name, *said.below_the_limit(stem, share, ratio, limit, advice),
            1 if advice else 0, {"of_limit": share},
        )  # fmt: skip
    for name, wrong in entry.ending("wrong_tensors"):
        if wrong > 0:
            yield Insight(
                "accuracy", entry.name, *said.wrong_tensors(name.rstrip("._"), wrong), 2, {"wrong": wrong},
            )  # fmt: skip


def _advice(entry: EntryRuns, name: str) -> str:
    """Advice for our own store only: what would make another one smaller is not known here."""
    store = next((part for part in name.split(".") if part.startswith(OURS)), None)
    if store is None:
        return ""
    deltas = entry.share(f"{name}delta_share")
    if deltas is not None and deltas < 0.5:
        return said.few_differences(store, deltas)
    return said.smaller_setting(store, "" if store == SMALLEST else SMALLEST.removeprefix(OURS))
