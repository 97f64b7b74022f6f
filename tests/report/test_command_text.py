from __future__ import annotations

from pathlib import Path

import pytest
from golden import check_golden
from made_commands import made_command_session, made_runs, made_times

from assay.record import Outcome, Record, Usage
from assay.report.text.commands import command_summary
from assay.report.text.screen import PLAIN, Screen, columns

GOLDEN = Path(__file__).parent / "golden"
A = "./parse-a --strict --threads 4 data/big.json"
B = "./parse-b data/big.json"


def one(tmp_path: Path, records: list[Record], screen: Screen = PLAIN, changes: tuple[str, ...] = ()) -> str:
    return command_summary(made_command_session(tmp_path, records), changes=changes, screen=screen)


def slow_third() -> list[float]:
    times = made_times(0.4126, 0.003)
    times[2] = 0.46
    return times


def test_a_command(tmp_path: Path) -> None:
    records = made_runs("parse-a", A, slow_third(), busy=3)
    changes = ("vs last time (2 h ago, 3f2a91c): no change (−0.8% … +1.1%)",)
    check_golden(GOLDEN / "command-one.txt", one(tmp_path, records, Screen(width=80), changes))


def test_a_command_that_ran_once(tmp_path: Path) -> None:
    check_golden(GOLDEN / "command-once.txt", one(tmp_path, made_runs("parse-a", A, [0.0123])))


@pytest.mark.parametrize("width", [80, 160])
def test_several_commands(tmp_path: Path, width: int) -> None:
    records = [
        *made_runs("parse-a", A, slow_third(), busy=3),
        *made_runs("parse-b", B, made_times(0.2319, 0.002, seed=2)),
    ]
    text = one(tmp_path, records, Screen(width=width))
    check_golden(GOLDEN / f"command-several-{width}.txt", text)
    assert max(map(columns, text.splitlines())) <= width


def test_no_command_is_called_faster_where_that_cannot_be_told(tmp_path: Path) -> None:
    records = [
        *made_runs("b", B, made_times(0.2319, 0.002, seed=2)),
        *made_runs("c", "./parse-c", made_times(0.232, 0.02, seed=3)),
    ]
    text = one(tmp_path, records)
    assert f"{B} and ./parse-c: can't tell which is faster from 10 runs of each: " in text
    assert "times faster" not in text


def test_what_failed_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    failed = made_runs("parse-a", A, [0.01] * 3, outcome=Outcome.FAILED, reasons=("exited with code 1",))
    records = [*failed, *made_runs("parse-b", B, made_times(0.2319, 0.002))]
    check_golden(GOLDEN / "command-failed.txt", one(Path("results"), records, Screen(width=80)))


def test_a_run_that_stands_apart_without_a_known_reason(tmp_path: Path) -> None:
    assert "1 of 10 runs stands apart: number 3 was 11% slower than the median\n" in one(
        tmp_path, made_runs("parse-a", A, slow_third())
    )


def test_a_first_run_that_is_slow_is_a_warm_up(tmp_path: Path) -> None:
    times = made_times(0.4126, 0.003)
    times[0] = 0.9
    text = one(tmp_path, made_runs("parse-a", A, times))
    assert (
        "run 1 was 2.2 times as slow as the median (likely: it was the first: `--warmup 1` leaves such a run out)"
        in text
    )


def test_memory_that_was_not_seen_is_said_so(tmp_path: Path) -> None:
    assert "memory not seen" in one(tmp_path, made_runs("a", "a", [0.0001] * 3, usage=Usage(wall_s=0.0001)))


def test_commands_that_look_the_same_are_told_apart_by_their_names(tmp_path: Path) -> None:
    records = [*made_runs("true", "true", [0.01] * 3), *made_runs("true.2", "true", [0.011] * 3)]
    text = one(tmp_path, records)
    assert "true and true.2: can't tell which is faster from 3 runs of each; try --runs 10" in text


def test_a_long_command_loses_its_middle_on_a_terminal_only(tmp_path: Path) -> None:
    long = "./parse " + " ".join(f"--option-{at}" for at in range(30)) + " end.json"
    records = made_runs("parse", long, [0.1, 0.2, 0.3])
    folder = made_command_session(tmp_path, records)
    assert long in command_summary(folder)
    head = command_summary(folder, screen=Screen(width=80)).splitlines()[0]
    assert columns(head) == 80
    assert head.endswith("end.json")


def test_colours_are_only_around_the_words(tmp_path: Path) -> None:
    import re

    records = [*made_runs("a", A, made_times(0.4, 0.01)), *made_runs("b", B, made_times(0.2, 0.01, seed=4))]
    folder = made_command_session(tmp_path, records)
    painted = command_summary(folder, screen=Screen(colour=True))
    assert "\x1b[" in painted
    assert re.sub(r"\x1b\[\d*m", "", painted) == command_summary(folder)


@pytest.mark.parametrize("odd", [[-1.0] * 6, [0.0] * 6, [1e120, 1e-120] * 3])
def test_times_that_no_run_takes_are_shown_all_the_same(tmp_path: Path, odd: list[float]) -> None:
    records = made_runs("odd", "odd", odd, usage=Usage(peak_rss_mb=1e300, cpu_user_s=-1.0))
    assert "odd" in one(tmp_path / "1", records)
    assert "odd" in one(tmp_path / "2", [*records, *made_runs("a", "a", made_times(0.2, 0.01, count=6))])
