from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread

from tools.room_trace import PACKAGE, RoomTrace
from tools.trace_walks import WALKS, unexplained
from tools.walk_reasons import REASONS

ROOT = Path(__file__).parent.parent


def test_the_walks_are_drawn_from_real_runs_and_each_room_entered_again_has_its_reason() -> None:
    """The tool has a process of its own: a session takes over signals and children of the process that it runs in."""
    check = [sys.executable, "-m", "tools.trace_walks", "--check"]
    done = subprocess.run(check, cwd=ROOT, capture_output=True, text=True, check=False, timeout=240)
    assert (done.stderr, done.returncode) == ("", 0)


def test_a_room_that_is_entered_again_without_a_reason_is_named_and_so_is_a_reason_without_need() -> None:
    walk = WALKS[0]
    again = {room: {"api"} for room in REASONS[walk.name]}
    assert unexplained(walk, RoomTrace(walk.room_of, again=again)) == []
    again["loadgen"] = again.pop("stats")
    assert unexplained(walk, RoomTrace(walk.room_of, again=again)) == [
        "a run: loadgen is entered again after it was left",
        "a run: stats is entered once, and has a reason",
    ]


def _in_room(room: str, function: Callable[..., object]) -> None:
    function.__code__ = function.__code__.replace(co_filename=str(PACKAGE / room / "made.py"))


def test_a_generator_is_left_when_it_has_ended_and_a_thread_goes_on_from_where_it_was_started() -> None:
    def hands_out() -> Iterator[int]:
        yield 1
        leaf()
        yield 2

    def leaf() -> None:
        pass

    def go() -> None:
        for _ in hands_out():
            pass
        other = Thread(target=leaf)
        other.start()
        other.join()

    for room, function in (("stats", hands_out), ("record", leaf), ("api", go)):
        _in_room(room, function)
    trace = RoomTrace(lambda file: file.parts[0])
    with trace.running():
        go()
    assert list(trace.arrows) == [("", "api"), ("api", "stats"), ("stats", "record"), ("api", "record")]
    assert trace.again == {"record": {"api"}}
