from __future__ import annotations

from datetime import timedelta

import pytest
from session_factory import START

from assay.analysis import Comparison, Row, Verdict
from assay.history.rows import SessionRow
from assay.report.text.series import ago, last_time_lines

LAST = SessionRow(
    name="sleep__1", folder=None, started_at=START.isoformat(), finished_at=None, status="finished",
    git_commit="3f2a91c" + "0" * 33, git_branch="main", git_dirty=False, machine="m", host="h", reason=None, planned=1,
    outcomes={},
)  # fmt: skip


def row(verdict: Verdict, ratio: float, metric: str = "exec_time_s") -> Row:
    return Row("sleep", metric, verdict, "the reason", ratio=ratio, low=ratio - 0.01, high=ratio + 0.01)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([row(Verdict.EQUIVALENT, 1.0)], "no change (−1.0% … +1.0%)"),
        ([row(Verdict.REGRESSED, 1.11)], "11.0% slower (+10.0% … +12.0%)"),
        ([row(Verdict.REGRESSED, 2.5)], "2.50 times slower (+149% … +151%)"),
        ([row(Verdict.IMPROVED, 0.9)], "10.0% faster (−11.0% … −9.0%)"),
        ([row(Verdict.INCONCLUSIVE, 1.05)], "can't tell: the reason"),
        (
            [row(Verdict.EQUIVALENT, 1.0), row(Verdict.REGRESSED, 1.5, "usage.peak_rss_mb")],
            "no change (−1.0% … +1.0%); memory 50.0% more (+49.0% … +51.0%)",
        ),
        ([row(Verdict.EQUIVALENT, 1.0), row(Verdict.INCONCLUSIVE, 1.5, "usage.cpu_s")], "no change (−1.0% … +1.0%)"),
    ],
)
def test_sentences(rows: list[Row], said: str) -> None:
    [line] = last_time_lines(Comparison("a", "b", tuple(rows)), LAST, START + timedelta(hours=2))
    assert line == f"vs last time (2 h ago, 3f2a91c): {said}"


def test_without_a_session_to_name(tmp_path: object) -> None:
    comparison = Comparison("2 earlier sessions", "b", (row(Verdict.EQUIVALENT, 1.0),))
    assert last_time_lines(comparison, None) == ["vs last time: no change (−1.0% … +1.0%)"]


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(5, "5 s ago"), (90, "1 min ago"), (7300, "2 h ago"), (100000, "27 h ago"), (86400 * 3.5, "3 days ago")],
)
def test_how_long_ago(seconds: float, words: str) -> None:
    assert ago(START.isoformat(), START + timedelta(seconds=seconds)) == words


def test_notes_stand_below() -> None:
    told = Comparison("a", "b", (row(Verdict.EQUIVALENT, 1.0),), notes=("noise floors are not used",))
    assert last_time_lines(told, None)[1:] == ["  note: noise floors are not used"]
