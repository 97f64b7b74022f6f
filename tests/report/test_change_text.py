from __future__ import annotations

from dataclasses import replace

import pytest

from assay.analysis.series_changes import ChangePoint
from assay.history import Point, Series
from assay.report.text.series import change_commits, change_sessions, change_size, trend

A, B, C, D = (letter * 40 for letter in "abcd")
SURE = ChangePoint(
    "alm", "time_s", "fp", "s", "lower", session="n5", at="2026-01-05T00:00:00+00:00", ratio=1.5, before=2.0, after=3.0,
    index=5, earliest="n5", latest="n5", possible=1, commit_before=A, commit_after=B, commits=(B,),
)  # fmt: skip
WIDE = replace(SURE, earliest="n4", latest="n6", possible=3, commit_after=D, commits=(B, C, D))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (SURE, "at commit bbbbbbbbbb (before it: aaaaaaaaaa)"),
        (replace(SURE, commit_before=None), "at commit bbbbbbbbbb"),
        (replace(SURE, commit_after=A, commits=(A,)), "the same commit aaaaaaaaaa before and after"),
        (replace(SURE, commit_after=None, commits=()), "commit not known"),
        (WIDE, "between aaaaaaaaaa and dddddddddd: 3 commits measured"),
        (replace(WIDE, commits=(A, D)), "between aaaaaaaaaa and dddddddddd: 1 commit measured"),
        (replace(WIDE, commit_after=A, commits=(A,)), "the same commit aaaaaaaaaa before and after"),
        (replace(WIDE, commit_before=None), "commits measured there: bbbbbbbbbb, cccccccccc, dddddddddd"),
        (replace(WIDE, commit_after=None, commits=(B, C)), "commits measured there: bbbbbbbbbb, cccccccccc"),
        (
            replace(WIDE, commit_before=None, commits=tuple(f"{i:040d}" for i in range(7)), possible=7),
            "commits measured there: 0000000000, 0000000000, 0000000000, 0000000000, 0000000000 …",
        ),
    ],
)
def test_a_single_commit_is_named_only_where_it_is_certain(change: ChangePoint, says: str) -> None:
    assert change_commits(change) == says


def test_the_sessions_it_may_have_begun_with() -> None:
    assert change_sessions(SURE) == "from n5 on"
    assert change_sessions(WIDE) == "from one of 3 sessions on (n4 to n6, most likely n5)"


@pytest.mark.parametrize(
    ("before", "after", "unit", "says"),
    [
        (2.0, 3.0, "s", "+50.0%"),
        (1000.0, 0.0, "1/s", "−100%"),
        (0.0, 5.0, None, "+5"),
        (-5.0, -7.0, None, "−2"),
        (-1.0, 1.0, "dB", "+2 dB"),
        (1.0, -1.0, None, "−2"),
    ],
)
def test_per_cent_only_of_what_has_them(before: float, after: float, unit: str | None, says: str) -> None:
    ratio = after / before if before else None
    assert change_size(replace(SURE, before=before, after=after, ratio=ratio, unit=unit)) == says


def test_the_terminal_says_where_a_series_changed() -> None:
    values = [0.0] * 20 + [5.0] * 8
    points = [
        Point(f"2026-01-01T00:{i:02d}:00+00:00", value, f"run-{i}", f"night-{i:02d}", f"{i:02d}" * 20)
        for i, value in enumerate(values)
    ]
    series = Series(1, "fp", "alm", "errors", None, "lower", len(points), 5.0, points[-1].started_at)
    said = [line.strip() for line in trend(series, None, points).splitlines() if "regressed" in line]
    assert said == ["regressed from night-20 on: 0 → 5, +5; at commit 2020202020 (before it: 1919191919)"]
