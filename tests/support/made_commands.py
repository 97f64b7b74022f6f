"""Sessions of commands, made without running anything."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

from session_factory import MACHINE, START

from assay.record import Fingerprint, Outcome, Record, SessionFolder, SessionInfo, Usage
from assay.record.results_file import append_record

NAME = "parse-a__2026-03-01__02-00-00"


def made_times(mean: float, spread: float, count: int = 10, seed: int = 1) -> list[float]:
    rng = random.Random(seed)
    return [mean + rng.gauss(0, spread) for _ in range(count)]


def made_runs(
    name: str,
    command: str,
    times: Sequence[float],
    *,
    outcome: Outcome = Outcome.PASSED,
    reasons: tuple[str, ...] = (),
    usage: Usage | None = None,
    busy: int | None = None,
) -> list[Record]:
    """`busy`: number of a run beside which others kept the machine busy."""
    return [
        Record(
            name=name,
            session=NAME,
            run_id=f"{NAME}/{name}/run-{at:02d}",
            outcome=outcome,
            started_at=(START + timedelta(seconds=at)).isoformat(),
            fingerprint=Fingerprint(name, "0123456789ab", "command 1", MACHINE.machine_class),
            exec_time_s=seconds,
            returncode=0 if outcome is Outcome.PASSED else 1,
            command=command,
            stdouterr_file=f"{name}/run-{at:02d}/stdouterr.log",
            reasons=reasons,
            usage=usage
            or Usage(
                wall_s=seconds,
                cpu_s=seconds * 0.99,
                cpu_user_s=seconds * 0.96,
                cpu_system_s=seconds * 0.03,
                peak_rss_mb=61.3,
                samples=3,
                steal_share=0.12 if at == busy else 0.0,
            ),
            repeat=at,
        )
        for at, seconds in enumerate(times, start=1)
    ]


def made_command_session(results: Path, records: Sequence[Record], *, status: str = "finished") -> SessionFolder:
    folder = SessionFolder(results / NAME)
    folder.path.mkdir(parents=True)
    folder.write_environment(MACHINE)
    for record in records:
        append_record(folder.results, record)
        log = folder.path / record.stdouterr_file
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text("" if record.success else "no such file: big.json\n")
    folder.write_info(
        SessionInfo(
            name=NAME,
            started_at=START.isoformat(),
            status=status,  # type: ignore[arg-type]
            finished_at=(START + timedelta(seconds=30)).isoformat(),
            planned=tuple(dict.fromkeys(record.name for record in records)),
        )
    )
    return folder
