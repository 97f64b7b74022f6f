"""A results folder with twenty-four nights, a step in one series, a hostile name, and at will a session that runs."""

from __future__ import annotations

import random
from datetime import timedelta
from pathlib import Path

from nightly import HOSTILE, nightly_runs, rich_runs
from session_factory import MACHINE, START, MadeRun, later, make_session

from assay.history import History
from assay.record import SessionFolder


def many_nights(results: Path) -> list[SessionFolder]:
    rng = random.Random(5)
    folders = []
    for night in range(24):
        slow = 1.12 if night >= 16 else 1.0
        runs = [
            MadeRun(
                "alm",
                {"rows_per_s": {"value": 1000 / slow * (1 + rng.gauss(0, 0.01)), "unit": "1/s", "better": "higher"}},
                exec_time_s=12.4 * slow * (1 + rng.gauss(0, 0.01)),
                usage_series=False,
            ),
            MadeRun(HOSTILE, {"x": 1.0 + rng.gauss(0, 0.01)}, exec_time_s=1.0, folder="hostile", usage_series=False),
        ]
        started = START + timedelta(days=night)
        folders.append(_night(results, runs, started, night))
    folders.append(_night(results, [*nightly_runs(1.12), *rich_runs()], START + timedelta(days=24), 24))
    with History.beside(results) as history:
        for folder in folders:
            history.add_session(folder)
    return folders


def _night(results: Path, runs: list[MadeRun], started: object, night: int) -> SessionFolder:
    from datetime import datetime

    assert isinstance(started, datetime)
    name = f"nightly-run__{started:%Y-%m-%d__%H-%M-%S}"
    return make_session(results, runs, name=name, started=started, environment=later(MACHINE, f"{night + 16:02x}" * 20))


def running_session(results: Path) -> SessionFolder:
    folder = make_session(
        results, [MadeRun("first")], name="running-now", finished=False, planned=("first", "second"),
        started=START + timedelta(days=50),
    )  # fmt: skip
    (folder.path / "second").mkdir()
    (folder.path / "second" / "stdouterr.log").write_text("epoch 1\n")
    return folder
