"""Many rows for tests and measurements of the history, put in as sessions put them in."""

from __future__ import annotations

import random
from datetime import timedelta

from session_factory import MACHINE, START, MadeRun, later, made_record

from assay.history import History
from assay.record import SessionInfo


def fill(history: History, *, sessions: int, entries: int, metrics: int, seed: int = 1, first: int = 0) -> int:
    """Values put in. Each run has `metrics` of its own, and three that Assay measures of it. `first`: how many sessions
    are there already."""
    rng = random.Random(seed)
    for number in range(first, first + sessions):
        started = START + timedelta(hours=6 * number)
        name = f"nightly-run__{started:%Y-%m-%d__%H-%M-%S}"
        info = SessionInfo(
            name=name, started_at=started.isoformat(), finished_at=(started + timedelta(hours=1)).isoformat(),
            status="finished", planned=tuple(f"entry-{e:03d}" for e in range(entries)),
        )  # fmt: skip
        environment = later(MACHINE, f"{number:040x}")
        records = [
            made_record(
                MadeRun(
                    f"entry-{entry:03d}",
                    {
                        f"metric_{m:02d}": {"value": 100 * (1 + rng.gauss(0, 0.02)), "unit": "ms", "better": "lower"}
                        for m in range(metrics)
                    },
                    exec_time_s=10 * (1 + rng.gauss(0, 0.02)),
                ),
                name,
                started + timedelta(seconds=12 * entry),
                environment,
            )
            for entry in range(entries)
        ]
        history.add_all(records, info, environment)
    return sessions * entries * (metrics + 3)
