from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
from tests.analysis.records import record

from assay.analysis.change_point import all_change_points, group
from assay.analysis.commits import commits_between
from assay.analysis.verdict import Verdict
from assay.history import History
from assay.record import Environment, SessionInfo


def _history(path: Path, nights: int = 28, step_at: int = 16) -> History:
    """Two entries and three metrics, of which two move together; every night two runs and its own commit."""
    rng = np.random.default_rng(0)
    history = History(path / "h.sqlite")
    for night in range(1, nights + 1):
        info = SessionInfo(f"night-{night:02d}", f"2026-01-{night:02d}T00:00:00+00:00")
        slower = 1.2 if night >= step_at else 1.0
        for run in (1, 2):
            noise = np.exp(rng.normal(0, 0.01, 3))
            more = {"session": info.name, "day": night, "run": run, "commit": f"{night:040x}"}
            for item in (
                record("a", {"time_s": 5 * slower * noise[0], "steady_s": 2 * noise[1], "num_rows": 7}, **more),
                record("b", {"rows_per_s": 900 / slower * noise[2]}, **more),
            ):
                history.add(item, info, Environment())
    return history


def test_steps_are_found_grouped_and_dated(tmp_path: Path) -> None:
    with _history(tmp_path) as history:
        changes = all_change_points(history)
        events = group(changes, [f"night-{night:02d}" for night in range(1, 29)])
    assert {(c.entry, c.metric) for c in changes} == {("a", "time_s"), ("b", "rows_per_s")}
    assert [len(event.points) for event in events] == [2]
    event = events[0]
    assert event.session == "night-16"
    assert event.at.startswith("2026-01-16")
    assert {point.verdict for point in event.points} == {Verdict.REGRESSED}
    assert len(event.regressed) == 2
    assert event.commits == (f"{15:040x}", f"{16:040x}")
    times = next(point for point in event.points if point.metric == "time_s")
    assert abs(times.ratio - 1.2) < 0.02


def test_steps_far_apart_are_two_events(tmp_path: Path) -> None:
    with _history(tmp_path, step_at=16) as history:
        changes = all_change_points(history)
    moved = [changes[0], changes[1].__class__(**{**changes[1].__dict__, "session": "night-08"})]
    events = group(moved, [f"night-{night:02d}" for night in range(1, 29)])
    assert [event.session for event in events] == ["night-16", "night-08"]


def test_a_short_history_has_none(tmp_path: Path) -> None:
    with _history(tmp_path, nights=8, step_at=4) as history:
        assert all_change_points(history) == []


def test_commits_between_two_nights(tmp_path: Path) -> None:
    def git(*words: str) -> str:
        who = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
        return subprocess.run(["git", *who, *words], cwd=tmp_path, check=True, capture_output=True, text=True).stdout

    git("init", "-q")
    hashes = []
    for subject in ("first", "faster reader", "slower writer"):
        git("commit", "-q", "--allow-empty", "-m", subject)
        hashes.append(git("rev-parse", "HEAD").strip())
    assert [line.split(" ", 1)[1] for line in commits_between(hashes[0], hashes[2], tmp_path)] == [
        "slower writer",
        "faster reader",
    ]
    assert commits_between(hashes[0], "f" * 40, tmp_path) == []
    assert commits_between(None, hashes[0], tmp_path) == []
    assert commits_between("--output=x", hashes[0], tmp_path) == []
