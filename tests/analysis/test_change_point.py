from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
from tests.analysis.records import record

from assay.analysis.comparison import Verdict
from assay.analysis.series_changes import ChangePoint, all_change_points, commits_between, group, series_changes
from assay.history import History, Point, Series
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
    assert [(p.earliest, p.latest, p.possible) for p in event.points] == [("night-16", "night-16", 1)] * 2
    assert event.points[0].commits == (f"{16:040x}",)
    times = next(point for point in event.points if point.metric == "time_s")
    assert abs(times.ratio - 1.2) < 0.02


def test_steps_far_apart_are_two_events(tmp_path: Path) -> None:
    with _history(tmp_path, step_at=16) as history:
        changes = all_change_points(history)
    moved = [changes[0], changes[1].__class__(**{**changes[1].__dict__, "session": "night-08"})]
    events = group(moved, [f"night-{night:02d}" for night in range(1, 29)])
    assert [event.session for event in events] == ["night-16", "night-08"]


def test_a_short_history_has_none(tmp_path: Path) -> None:
    with _history(tmp_path, nights=7, step_at=4) as history:
        assert all_change_points(history) == []


def _series(values: list[float], commits: list[str | None], unit: str | None = None) -> list[ChangePoint]:
    points = [
        Point(f"2026-01-01T00:{i:02d}:00+00:00", value, f"run-{i}", f"night-{i:02d}", commit)
        for i, (value, commit) in enumerate(zip(values, commits, strict=True))
    ]
    series = Series(1, "fp", "a", "errors", unit, None, len(points), values[-1], points[-1].started_at)
    return series_changes(series, points)


def test_a_step_that_may_be_at_several_sessions_names_all_their_commits() -> None:
    values = [10.0, 10.1, 9.9, 10.0, 10.2, 9.8, 10.1, 10.0, 9.9, 10.1] * 2 + [10.45, 10.35]
    values += [10.7, 10.9, 10.8, 10.6, 10.9, 10.7, 10.8, 10.9, 10.7, 10.8]
    [change] = _series(values, [f"{i:040x}" for i in range(len(values))])
    assert change.possible > 1
    first, last = int(change.earliest[-2:]), int(change.latest[-2:])
    assert first <= 20 <= last
    assert change.possible == last - first + 1 == len(change.commits)
    assert change.commits[0] == f"{first:040x}"
    assert (change.commit_before, change.commit_after) == (f"{first - 1:040x}", f"{last:040x}")


def test_a_step_from_zero_has_no_ratio_and_a_verdict() -> None:
    [change] = _series([0.0] * 20 + [5.0] * 8, [None] * 28)
    assert (change.index, change.before, change.after, change.ratio) == (20, 0.0, 5.0, None)
    assert change.verdict is Verdict.REGRESSED
    assert (change.commit_before, change.commit_after, change.commits) == (None, None, ())
    [event] = group([change], [f"night-{i:02d}" for i in range(28)])
    assert event.session == "night-20"


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
