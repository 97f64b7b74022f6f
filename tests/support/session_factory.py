"""Session folders as a session writes them, made through `assay.record` without running anything."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from assay.record import (
    Environment,
    Fingerprint,
    Outcome,
    Record,
    RequirementResult,
    SessionFolder,
    SessionInfo,
    TaskPerf,
    Usage,
)
from assay.record.results_file import append_record

START = datetime(2026, 3, 1, 2, 0, 0, tzinfo=UTC)
MACHINE = Environment(
    host="bench-01",
    os="Debian GNU/Linux 12",
    kernel="6.1.0",
    cpu_model="AMD EPYC 7B13",
    cores=8,
    memory_mb=32 * 1024,
    python="3.11.9",
    assay="0.1.0",
    git_commit="a" * 40,
    git_branch="main",
    git_dirty=False,
    packages={"numpy": "2.4.6", "ray": "2.60.0"},
)


@dataclass(frozen=True)
class MadeRun:
    """What a test says of one run; the rest is filled in."""

    entry: str
    metrics: Mapping[str, Any] = field(default_factory=dict)
    outcome: Outcome = Outcome.PASSED
    exec_time_s: float = 10.0
    params: Mapping[str, Any] = field(default_factory=dict)
    reasons: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    requirements: tuple[RequirementResult, ...] = ()
    tasks: tuple[TaskPerf, ...] = ()
    repeat: int = 1
    repeats: int = 1
    log: str = "starting\ndone\n"
    usage_series: bool = True
    warmup: bool = False
    folder: str | None = None
    """Folder of the entry inside the session; None: its name, which must then be one that a folder can have."""


def make_session(
    results_dir: Path,
    runs: Iterable[MadeRun],
    *,
    name: str = "nightly-run__2026-03-01__02-00-00",
    started: datetime = START,
    environment: Environment = MACHINE,
    finished: bool = True,
    planned: tuple[str, ...] | None = None,
    reason: str | None = "nightly",
    seed: int = 0,
) -> SessionFolder:
    runs = list(runs)
    folder = SessionFolder(results_dir / name)
    folder.path.mkdir(parents=True)
    folder.write_environment(environment)
    clock = started
    rng = random.Random(seed)
    for run in runs:
        record = made_record(run, name, clock, environment)
        _write_run(folder, record, run, rng)
        append_record(folder.results, record, with_tasks=False)
        clock += timedelta(seconds=record.exec_time_s + 1)
    folder.log.write_text(f"{started.isoformat()} session {name} started\n")
    folder.write_info(
        SessionInfo(
            name=name,
            started_at=started.isoformat(),
            status="finished" if finished else "running",
            finished_at=clock.isoformat() if finished else None,
            command=("assay", "run", "--config", "nightly.yaml"),
            config_files=("nightly.yaml",),
            reason=reason,
            planned=planned or tuple(dict.fromkeys(run.entry for run in runs)),
        )
    )
    return folder


def made_record(run: MadeRun, session: str, started: datetime, environment: Environment = MACHINE) -> Record:
    where = run_folder(run)
    return Record(
        name=run.entry,
        session=session,
        run_id=f"{session}/{run.entry}/run-{run.repeat:02d}",
        outcome=run.outcome,
        started_at=started.isoformat(),
        fingerprint=Fingerprint(run.entry, "0123456789ab", "1", environment.machine_class),
        exec_time_s=run.exec_time_s,
        returncode=None if run.outcome is Outcome.TIMEOUT else int(run.outcome is Outcome.FAILED),
        command=f"python {run.entry}.py --benchmark-results-path {where}/benchmark_results",
        stdouterr_file=f"{where}/stdouterr.log",
        script_params=dict(run.params),
        script_metrics=dict(run.metrics),
        tasks=run.tasks,
        reasons=run.reasons,
        warnings=run.warnings,
        requirements=run.requirements,
        usage=_usage(run),
        repeat=run.repeat,
        warmup=run.warmup,
        files={"usage": f"{where}/usage.csv"} if run.usage_series else {},
        git_commit=environment.git_commit,
        reason="nightly",
    )


def run_folder(run: MadeRun) -> str:
    base = run.folder or run.entry
    return f"{base}/run-{run.repeat:02d}" if run.repeats > 1 else base


def _usage(run: MadeRun) -> Usage:
    if not run.usage_series:
        return Usage()
    return Usage(
        wall_s=run.exec_time_s,
        cpu_s=run.exec_time_s * 1.6,
        cpu_user_s=run.exec_time_s * 1.5,
        cpu_system_s=run.exec_time_s * 0.1,
        peak_rss_mb=512.0,
        mean_rss_mb=380.0,
        read_mb=120.0,
        write_mb=40.0,
        peak_threads=9,
        peak_processes=3,
        steal_share=0.002,
        neighbour_cpu_s=0.4,
        samples=100,
    )


def _write_run(folder: SessionFolder, record: Record, run: MadeRun, rng: random.Random) -> None:
    path = folder.path / run_folder(run)
    (path / "logs").mkdir(parents=True)
    (path / "stdouterr.log").write_text(run.log)
    (path / "logs" / "stdout.log").write_text(run.log)
    (path / "logs" / "stderr.log").write_text("")
    append_record(path / "results.jsonl", record)
    if run.usage_series:
        (path / "usage.csv").write_text(_usage_csv(run.exec_time_s, rng))


def _usage_csv(seconds: float, rng: random.Random) -> str:
    lines = ["t_s,cpu_s,rss_mb,read_mb,write_mb,threads,processes,steal_s,busy_s"]
    cpu = 0.0
    for i in range(101):
        t = seconds * i / 100
        cpu += seconds / 100 * (1.6 + rng.uniform(-0.3, 0.3)) * (i > 0)
        rss = 120 + 390 * (1 - math.exp(-i / 25)) + rng.uniform(-3, 3)
        lines.append(f"{t:.3f},{cpu:.3f},{rss:.1f},{1.2 * i:.2f},{0.4 * i:.2f},9,3,{0.002 * t:.4f},{cpu * 1.05:.3f}")
    return "\n".join(lines) + "\n"


def later(environment: Environment, commit: str) -> Environment:
    return replace(environment, git_commit=commit)
