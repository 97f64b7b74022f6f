from __future__ import annotations

import pytest

from assay.report.text.screen import bar, distribution, mean_and_spread, progress_bar


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        ([0.4126], "412.6 ms"),
        ([0.4075, 0.4126, 0.4177], "412.6 ms ± 5.1 ms"),
        ([0.05, 0.05, 0.137], "79.0 ms ± 50.2 ms"),
        ([12.28, 12.42, 12.56], "12.42 s ± 0.14 s"),
        ([2.0, 2.0], "2.000 s ± 0.000 s"),
        ([0.0000015, 0.0000025], "2.00 µs ± 0.71 µs"),
        ([90.0, 100.0], "1 min 35 s ± 7.1 s"),
        ([61.0, 61.8], "1 min 1 s ± 0.6 s"),
        ([600.0, 800.0], "11 min 40 s ± 2 min 21 s"),
        ([0.0], "0.000 µs"),
        ([], "–"),
    ],
)
def test_mean_and_spread_share_unit_and_digits(seconds: list[float], words: str) -> None:
    assert mean_and_spread(seconds) == words


def test_where_values_fell() -> None:
    assert distribution([1, 1, 1, 1, 2, 5], width=5) == "█▂  ▂"
    assert distribution([1, 1, 1]) == ""
    assert distribution([1, 2]) == ""


def test_bars() -> None:
    assert bar(1, 4) == "████"
    assert bar(0.5, 4) == "██"
    assert bar(0.45, 4) == "█▊"
    assert bar(0.0001, 4) == "▏"
    assert bar(0, 4) == ""


@pytest.mark.parametrize("share", [0, 0.001, 0.5, 0.999, 1])
def test_progress_is_always_as_wide(share: float) -> None:
    assert len(progress_bar(share, 20)) == 20
    assert progress_bar(0.5, 8) == "━━━━╸   "
