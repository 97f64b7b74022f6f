"""A month of nights of few or many entries, the last one with failures and regressions: what a report is judged by."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from session_factory import MACHINE, START, MadeRun, made_record, make_session

from assay.history import History
from assay.record import Environment, Outcome, RequirementResult, SessionFolder, SessionInfo, TaskPerf

NIGHTS = 30
REPEATS = 6
KINDS = ("alm", "dedup", "filter", "serving", "tokenize", "embed", "train", "removal", "classify", "shuffle")
WAYS = ("local", "ray_data", "ray_actors", "xenna", "large")
STAGES = (("reader", 0.12), ("window_builder", 0.48), ("overlap_filter", 0.2), ("writer", 0.06))
TRACEBACK = """epoch 1 of 3
loading ids from /data/ids-to-remove
Traceback (most recent call last):
  File "removal.py", line 61, in <module>
    main()
  File "removal.py", line 42, in main
    ids = read_ids(args.ids_to_remove)
FileNotFoundError: ids-to-remove: no such file
"""


@dataclass(frozen=True)
class Nights:
    folder: SessionFolder
    """The last night, the only one that is on disk."""
    history: Path


def two_entries(results: Path) -> Nights:
    return _nights(results, ("alm_xenna", "removal_ray"), slower={"alm_xenna"}, failing={"removal_ray"})


def fifty_entries(results: Path) -> Nights:
    names = tuple(f"{kind}_{way}" for kind in KINDS for way in WAYS)
    return _nights(
        results,
        names,
        slower={"alm_xenna", "dedup_large"},
        faster={"embed_local"},
        failing={"removal_ray_data", "train_large"},
        missing={"tokenize_large"},
    )


def _nights(
    results: Path,
    names: tuple[str, ...],
    slower: set[str],
    failing: set[str],
    faster: frozenset[str] | set[str] = frozenset(),
    missing: frozenset[str] | set[str] = frozenset(),
) -> Nights:
    """A step a night ago in what is slower, and one long ago in every seventh entry; the machine had a new numpy."""
    rng = random.Random(3)
    machine = replace(MACHINE, packages={"numpy": "2.4.5", "ray": "2.60.0"})
    results.mkdir(parents=True, exist_ok=True)
    with History.beside(results) as history:
        for night in range(NIGHTS):
            started = START - timedelta(days=NIGHTS - night)
            environment = replace(machine, git_commit=f"{night + 16:02x}" * 20)
            levels = [1.1 if n % 7 == 3 and night > 17 else 1.0 for n in range(len(names))]
            runs = [run for name, level in zip(names, levels, strict=True) for run in _entry(name, rng, level)]
            _remember(history, runs, started, environment)
        # What the environment was is read from its folder.
        folder = SessionFolder(results / f"nightly-run__{started:%Y-%m-%d__%H-%M-%S}")
        folder.path.mkdir()
        folder.write_environment(environment)
        last = [
            run
            for n, name in enumerate(names)
            for run in _last_night(name, rng, (1.1 if n % 7 == 3 else 1.0), slower, faster, failing, missing)
        ]
        environment = replace(MACHINE, git_commit="3f2a91c" + "0" * 33, kernel="6.1.1")
        folder = make_session(results, last, environment=environment)
        history.add_session(folder)
    return Nights(folder, results)


def _remember(history: History, runs: list[MadeRun], started: Any, environment: Environment) -> None:
    name = f"nightly-run__{started:%Y-%m-%d__%H-%M-%S}"
    records = []
    clock = started
    for run in runs:
        records.append(made_record(replace(run, tasks=()), name, clock, environment))
        clock += timedelta(seconds=run.exec_time_s + 1)
    info = SessionInfo(name, started.isoformat(), status="finished", finished_at=clock.isoformat())
    history.add_all(records, info, environment)


def _last_night(
    name: str, rng: random.Random, level: float, slower: set[str], faster: Any, failing: set[str], missing: Any
) -> list[MadeRun]:
    if name in failing:
        return [
            MadeRun(
                name, outcome=Outcome.FAILED, exec_time_s=3.1, log=TRACEBACK,
                reasons=("exited with code 3: ids-to-remove: no such file",),
            )
        ]  # fmt: skip
    runs = _entry(name, rng, level * (1.12 if name in slower else 0.85 if name in faster else 1.0), samples=True)
    if name not in missing:
        return runs
    least = RequirementResult("rows_per_s", "≥ 60,000", 48210.0, False, "rows_per_s is 48210, not ≥ 60000")
    return [
        replace(run, outcome=Outcome.MISSED, requirements=(least,), reasons=("rows_per_s is 48210, not ≥ 60000",))
        for run in runs
    ]


def _entry(name: str, rng: random.Random, level: float, samples: bool = False) -> list[MadeRun]:
    base = 6 + (sum(map(ord, name)) % 17)
    runs = []
    for repeat in range(1, REPEATS + 1):
        seconds = base * level * (1 + rng.gauss(0, 0.012))
        served = samples and "serving" in name
        times = [0.01 * level * rng.lognormvariate(0, 0.35) for _ in range(200)] if served else []
        metrics: dict[str, Any] = {
            "rows_per_s": {"value": round(12400 / seconds, 3), "unit": "1/s", "better": "higher"},
            "rows": 12400,
            "is_success": True,
        }
        if times:
            metrics["latency_s"] = {"value": sorted(times)[100], "unit": "s", "better": "lower", "samples": times}
        tasks = [
            TaskPerf(stage, {"process_time": seconds * share / 20 * (1 + rng.gauss(0, 0.05))}, f"{stage}-{i}")
            for stage, share in STAGES
            for i in range(20)
        ]
        runs.append(
            MadeRun(
                name, metrics, exec_time_s=seconds, tasks=tuple(tasks) if samples else (), repeat=repeat,
                repeats=REPEATS, params={"input_manifest": "sample.jsonl", "executor": name.partition("_")[2]},
                log="".join(f"batch {n}: 620 rows\n" for n in range(20)),
            )
        )  # fmt: skip
    return runs
