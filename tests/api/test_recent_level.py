"""`max_regression` is held against what recent sessions gave and their noise, not against one lucky record."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import pytest
from session_factory import START, MadeRun, make_session

from assay.api.session_changes import HistoryLevels
from assay.config.entry_config import Requirement
from assay.history import History
from assay.record import Outcome, RequirementResult
from assay.session.results.requirements import check

STEADY = [100.0, 101.0, 99.0, 100.5, 99.5, 100.0, 100.2, 99.8]
NOISY = [100.0, 108.0, 93.0, 104.0, 95.0, 101.0, 97.0, 106.0, 92.0, 103.0]


def _checked(results: Path, earlier: Sequence[float], now: float, bound: str, repeat: int = 1) -> RequirementResult:
    with History.beside(results) as history:
        for day, value in enumerate(earlier):
            run = MadeRun("sort", {"rows_per_s": value})
            history.add_session(make_session(results, [run], name=f"s{day:02d}", started=START + timedelta(days=day)))
        today = [MadeRun("sort", {"rows_per_s": now}, repeat=n + 1, repeats=repeat) for n in range(repeat)]
        made = make_session(results, today, name="today", started=START + timedelta(days=len(earlier)))
        history.add_session(made)
        requirement = Requirement(metric="rows_per_s", max_regression=bound)
        return check(requirement, list(made.records())[-1], None, HistoryLevels(history, results, pytest.fail))


@pytest.mark.parametrize(
    ("earlier", "now", "ok"),
    [
        ([*STEADY, 120.0], 100.0, True),  # a lucky record: 100 is 17% below it, and what it always was
        (STEADY, 92.0, False),
        (NOISY, 92.0, True),  # 8% below, which these sessions differ by among themselves
        (NOISY, 60.0, False),
        ([100.0], 80.0, False),
    ],
)
def test_held_against_the_recent_level_and_its_spread(
    tmp_path: Path, earlier: list[float], now: float, ok: bool
) -> None:
    assert _checked(tmp_path, earlier, now, "5%").ok is ok


def test_what_it_was_held_against_is_said(tmp_path: Path) -> None:
    broken = _checked(tmp_path, STEADY, 92.0, "5%")
    assert broken.reason.startswith(
        "rows_per_s is 92, required: at most 5% worse than the recent level, which was 100 "
        "(median of 8 sessions; one more could differ by "
    )


def test_earlier_runs_of_the_same_session_are_no_past(tmp_path: Path) -> None:
    assert "no comparable record yet" in _checked(tmp_path, [], 92.0, "5%", repeat=3).expected


def test_missed_runs_are_no_part_of_the_level(tmp_path: Path) -> None:
    with History.beside(tmp_path) as history:
        for day in range(3):
            bad = MadeRun("sort", {"rows_per_s": 50.0}, outcome=Outcome.MISSED)
            history.add_session(make_session(tmp_path, [bad], name=f"b{day}", started=START - timedelta(days=3 - day)))
    assert not _checked(tmp_path, [100.0], 80.0, "5%").ok
