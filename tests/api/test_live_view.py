"""A session on a terminal, from made events: what is to be seen after each, and what stays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from golden import check_golden
from made_commands import made_runs
from session_factory import MACHINE, START
from small_terminal import SmallTerminal

from assay.api.console import Console, time_left
from assay.api.live_view import LiveView
from assay.record import Outcome, Record, SessionFolder, SessionInfo
from assay.record.secrets import Masker
from assay.session.events import Event, RunFinished, RunSampled, RunStarted, SessionFinished, SessionStarted

GOLDEN = Path(__file__).parent / "golden"
LONG = "removal_ray_with_a_very_long_name_that_says_everything"
INFO = SessionInfo(name="nightly__2026-03-01__02-00-00", started_at=START.isoformat())


class Stage:
    """A live view with a terminal before it, a clock that is set by hand, and the events of a session."""

    def __init__(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, width: int, **more: object) -> None:
        monkeypatch.setenv("COLUMNS", str(width))
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.setenv("NO_COLOR", "1")
        self.terminal = SmallTerminal(width)
        self.log = tmp_path / "session.log"
        self.console = Console(self.log, Masker({}), stream=self.terminal)
        self.now = 0.0
        self.folder = SessionFolder(tmp_path / "session")
        self.folder.path.mkdir(exist_ok=True)
        self.view = LiveView(self.console, clock=lambda: self.now, **more)  # type: ignore[arg-type]

    def start(self, **runs_of: int) -> None:
        self.hear(SessionStarted(self.folder, INFO, MACHINE, sum(runs_of.values()), (), runs_of))

    def hear(self, event: Event) -> list[str]:
        self.view(event)
        return self.seen

    @property
    def seen(self) -> list[str]:
        return self.terminal.frames[-1] if self.terminal.frames else []

    def begin(self, name: str, limit_s: float = 30.0) -> list[str]:
        return self.hear(RunStarted(f"s/{name}", name, name, name, limit_s, Path()))

    def sample(self, name: str, elapsed_s: float, cpus: float = 1.0, rss_mb: float = 20.0) -> list[str]:
        return self.hear(RunSampled(f"s/{name}", elapsed_s, elapsed_s * cpus, rss_mb))

    def end(self, name: str, seconds: float, **fields: object) -> list[str]:
        self.now += seconds
        return self.hear(RunFinished(record(name, seconds, **fields)))

    def finish(self) -> list[str]:
        return self.hear(SessionFinished(self.folder, INFO, ()))


def record(name: str, seconds: float, **fields: object) -> Record:
    [made] = made_runs(name, name, [seconds])
    return replace(made, **fields)  # type: ignore[arg-type]


@pytest.fixture
def staged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Stage]]:
    stages: list[Stage] = []

    def make(width: int = 80, **more: object) -> Stage:
        stages.append(Stage(tmp_path, monkeypatch, width, **more))
        return stages[-1]

    yield make
    for stage in stages:
        stage.console.__exit__(None, None, None)


def play(stage: Stage) -> None:
    stage.start(alm_local=2, **{LONG: 2}, serving=2)
    stage.begin("alm_local")
    stage.end("alm_local", 0.4126)
    stage.begin(LONG, 7200.0)
    stage.end(LONG, 0.02, outcome=Outcome.FAILED, reasons=("exited with code 3: ids-to-remove: no such file",))
    stage.begin("serving", 120.0)
    stage.end("serving", 60.0)
    stage.begin("alm_local")
    stage.end("alm_local", 0.4228)
    stage.begin(LONG, 7200.0)
    stage.end(LONG, 0.02, outcome=Outcome.FAILED, reasons=("exited with code 3: ids-to-remove: no such file",))
    stage.begin("serving", 120.0)
    stage.sample("serving", 41.0, cpus=1.8, rss_mb=2100.0)


@pytest.mark.parametrize("width", [80, 160])
def test_a_session_while_it_runs(staged: Callable[..., Stage], width: int) -> None:
    stage = staged(width)
    play(stage)
    check_golden(GOLDEN / f"live-session-{width}.txt", "\n".join(stage.seen) + "\n")


def test_nothing_is_left_of_the_live_lines_at_the_end(staged: Callable[..., Stage]) -> None:
    stage = staged()
    play(stage)
    stage.end("serving", 60.0)
    assert [line.split()[0] for line in stage.finish() if line] == [INFO.name, "✓", "✗", "✓"]


def test_nothing_of_it_is_in_the_log(staged: Callable[..., Stage]) -> None:
    stage = staged()
    play(stage)
    assert stage.log.read_text() == ""


def test_what_is_said_stands_above_the_live_lines(staged: Callable[..., Stage]) -> None:
    stage = staged()
    stage.start(a=2)
    stage.begin("a")
    before = stage.sample("a", 3.0)
    stage.console.say("Dashboard: http://127.0.0.1:1")
    after = stage.seen
    assert after[0] == before[0]
    assert after[1] == "Dashboard: http://127.0.0.1:1"
    assert after[2:4] == before[1:3]


def test_time_and_limit_of_what_runs(staged: Callable[..., Stage]) -> None:
    stage = staged()
    stage.start(a=1)
    stage.begin("a", 30.0)
    assert "  ▶ a                 0/1   3 s (limit 30 s)  0.5 CPUs  20 MB" in stage.sample("a", 3.0, cpus=0.5)


def test_an_estimate_from_the_runs_so_far(staged: Callable[..., Stage]) -> None:
    stage = staged(keep_lines=False)
    stage.start(a=10)
    for seconds in (0.4075, 0.4126, 0.4177):
        stage.begin("a")
        stage.end("a", seconds)
    seen = stage.begin("a")
    assert "  ▶ a                3/10   412.6 ms ± 5.1 ms" in seen
    assert seen[-1].endswith("30%   3 s left")


def test_time_left_counts_what_is_over_of_the_run_that_goes_on() -> None:
    left = {"a": 2, "b": 1}
    took = {"a": [10.0, 12.0]}
    assert time_left(left, took, lambda name: 5.0, None).words == "27 s left"
    assert time_left(left, took, lambda name: 5.0, ("a", 4.0)).words == "23 s left"
    assert time_left(left, took, lambda name: 5.0, ("a", 400.0)).words == "16 s left"
    assert time_left(left, took, lambda name: None, None).words == "22 s left or more"
    assert time_left({"b": 1}, {}, lambda name: None, None).words == ""


def test_earlier_sessions_are_asked_once_for_what_never_ran(staged: Callable[..., Stage]) -> None:
    asked: list[str] = []

    def expected(name: str) -> float:
        asked.append(name)
        return 100.0

    stage = staged(expected=expected)
    stage.start(a=1, b=1)
    stage.begin("a")
    seen = stage.sample("a", 40.0)
    stage.sample("a", 41.0)
    assert seen[-1].endswith("2 min 40 s left")
    assert asked == ["a", "b"]


def test_a_long_list_is_shortened(staged: Callable[..., Stage]) -> None:
    stage = staged()
    names = [f"entry-{at:02d}" for at in range(40)]
    stage.start(**dict.fromkeys(names, 2))
    for name in names:
        stage.begin(name)
        stage.end(name, 1.0)
    seen = stage.begin(names[30])
    assert sum(line.startswith("  ·") for line in seen) + sum(line.startswith("  ▶") for line in seen) == 12
    assert any(line.startswith("  ▶ entry-30") for line in seen)
    assert "    and 28 more under way" in seen


def test_a_session_that_goes_on_says_what_is_done(
    staged: Callable[..., Stage], monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = staged()
    monkeypatch.setattr(stage.folder, "records", lambda: [record("a", 1.0)])
    stage.start(a=2)
    assert stage.seen[0] == f"{INFO.name}  1 entry, 2 runs, 1 done already"


def test_warnings_of_a_run_and_notes_are_shown(staged: Callable[..., Stage]) -> None:
    stage = staged(notes=("sink slack is left out",))
    stage.start(a=1)
    stage.begin("a")
    seen = stage.end("a", 1.0, warnings=("left 2 process(es) running; they were ended",))
    assert "  sink slack is left out" in seen
    assert "      warning: left 2 process(es) running; they were ended" in seen


def test_names_of_others_cannot_move_the_cursor(staged: Callable[..., Stage]) -> None:
    stage = staged()
    name = "a\x1b[2Jb\r"
    stage.hear(SessionStarted(stage.folder, INFO, MACHINE, 1, (), {name: 1}))
    seen: Sequence[str] = stage.begin(name)
    assert any("a\\x1b[2Jb\\x0d" in line for line in seen)


def test_a_terminal_that_goes_away_is_not_written_to_again(staged: Callable[..., Stage]) -> None:
    stage = staged()
    stage.start(a=2)
    stage.begin("a")

    def gone(text: str) -> int:
        raise OSError(5, "Input/output error")

    stage.terminal.write = gone  # type: ignore[method-assign]
    stage.sample("a", 1.0)
    stage.end("a", 1.0)
    stage.console.say("said all the same")
    assert not stage.console.live
    assert "said all the same" in stage.log.read_text()
