from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assay.errors import UsageError
from assay.names import unknown
from assay.pytest_plugin.rounds import FEWEST, MOST, RoundsWanted

if TYPE_CHECKING:
    import pytest

COLUMNS = ("min", "max", "mean", "stddev", "median", "iqr", "outliers", "ops", "rounds", "iterations")
SHOWN = COLUMNS[:-1]
SORTS = ("name", *COLUMNS)
GROUPINGS = ("group", "name", "func", "file", "param", "param:NAME")
MARKED = ("group", "rounds", "max_time")
LIMIT = 0.05
"""Change that the gate lets pass if nobody gives another."""


def add_options(parser: pytest.Parser) -> None:
    group = parser.getgroup("assay")
    add = group.addoption
    add("--assay-results-dir", metavar="DIR", help="default: $ASSAY_RESULTS_DIR, otherwise ./results")
    add("--assay-session-name", metavar="NAME", default="pytest", help="the time is appended (default: pytest)")
    add("--assay-join", metavar="SESSION", help="add the runs to this session; the first run of pytest makes it")
    add(
        "--assay-rounds",
        metavar="N",
        type=_whole,
        help=f"rounds of each benchmark (default: as many as --assay-max-time holds, from {FEWEST} to {MOST})",
    )
    add("--assay-max-time", metavar="SECONDS", type=_seconds, default=1.0, help="of all rounds together (default: 1)")
    add("--assay-only", action="store_true", help="run only benchmarks (tests that use assay_benchmark or benchmark)")
    add("--assay-skip", action="store_true", help="run all tests but benchmarks")
    add("--assay-disable", action="store_true", help="call functions once and measure nothing")
    add("--assay-enable", action="store_true", help="measure in spite of --assay-disable, and with pytest-xdist")
    add("--assay-columns", metavar="A,B", type=_columns, help=f"of the table (default: {','.join(SHOWN)}, as fits)")
    add("--assay-sort", metavar="COLUMN", type=_sort, default="median", help="of the table (default: median)")
    add(
        "--assay-group-by",
        metavar="HOW",
        type=_grouping,
        default="group",
        help=f"a table each: {', '.join(GROUPINGS)} (default: group, that of the marker)",
    )
    add(
        "--assay-gate",
        metavar="PERCENT",
        nargs="?",
        type=_limit,
        const=LIMIT,
        help="exit status 1 if a test is slower than in the sessions before by more than this and by more than the"
        f" noise (default: {LIMIT:.0%})".replace("%", "%%"),
    )


@dataclass(frozen=True)
class Marked:
    """What `@pytest.mark.assay(…)` says of a test; the nearest marker wins, name by name."""

    group: str | None
    wanted: RoundsWanted

    @classmethod
    def of(cls, item: Any, config: Any) -> Marked:
        said: dict[str, Any] = {}
        for mark in item.iter_markers("assay"):
            if mark.args:
                raise UsageError(f"pytest.mark.assay takes names, such as group={mark.args[0]!r}")
            for name in mark.kwargs:
                if name not in MARKED:
                    raise UsageError(f"pytest.mark.assay: {unknown('name', name, MARKED)}")
            said = {**mark.kwargs, **said}
        rounds = _check("rounds", said.get("rounds"), _whole) or config.getoption("--assay-rounds")
        seconds = _check("max_time", said.get("max_time"), _seconds) or config.getoption("--assay-max-time")
        group = said.get("group")
        return cls(None if group is None else str(group), RoundsWanted(rounds, seconds))

    @classmethod
    def of_benchmark(cls, item: Any, config: Any) -> Marked:
        """What `@pytest.mark.benchmark(…)`, the marker of pytest-benchmark, says of a test. What says how that plug-in
        times (its timer, its calibration) says nothing here."""
        said: dict[str, Any] = {}
        for mark in item.iter_markers("benchmark"):
            said = {**mark.kwargs, **said}
        seconds = said.get("max_time")
        wanted = RoundsWanted(
            config.getoption("--assay-rounds"),
            float(seconds) if seconds else config.getoption("--assay-max-time"),
            max(FEWEST, int(said.get("min_rounds", FEWEST))),
        )
        group = said.get("group")
        return cls(None if group is None else str(group), wanted)


def _check(name: str, value: Any, check: Callable[[str], Any]) -> Any:
    try:
        return None if value is None else check(str(value))
    except ArgumentTypeError as error:
        raise UsageError(f"pytest.mark.assay: {name}: {error}") from None


def _whole(written: str) -> int:
    if not written.isdecimal() or int(written) < 1:
        raise ArgumentTypeError(f"{written!r} is no whole number of at least 1")
    return int(written)


def _seconds(written: str) -> float:
    try:
        seconds = float(written)
    except ValueError:
        seconds = -1.0
    if not 0 < seconds < float("inf"):
        raise ArgumentTypeError(f"{written!r} is no number of seconds above 0")
    return seconds


def _limit(written: str) -> float:
    try:
        percent = float(written.removesuffix("%"))
    except ValueError:
        percent = -1.0
    if not 0 < percent < 1000:
        raise ArgumentTypeError(f"{written!r} is no percentage above 0; write --assay-gate=5, or put it last")
    return percent / 100


def _columns(written: str) -> tuple[str, ...]:
    return tuple(_one_of("column", name.strip().lower(), COLUMNS) for name in written.split(","))


def _sort(written: str) -> str:
    return _one_of("column", written.strip().lower(), SORTS)


def _grouping(written: str) -> str:
    if written.startswith("param:") and written != "param:":
        return written
    return _one_of("grouping", written, GROUPINGS)


def _one_of(kind: str, name: str, known: tuple[str, ...]) -> str:
    if name not in known:
        raise ArgumentTypeError(unknown(kind, name, known))
    return name
