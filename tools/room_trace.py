"""Which room calls which while something runs, in the order in which each call first happens.

`sys.setprofile` tells of every call of Python code, and the file of a function says its room. A room is *entered* by a
call while none of it is under way, and *left* when that call returns. A generator is left when it has ended, not each
time it hands something out. A thread goes on from where it was started. Other processes are not seen.
"""

from __future__ import annotations

import dis
import gc
import inspect
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType

PACKAGE = Path(__file__).parents[1] / "src" / "assay"
OUTSIDE = ""
GENERATORS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


@dataclass(frozen=True)
class Arrow:
    caller: str
    callee: str
    first: str
    """The function that was called first."""
    back: bool
    """Whether the callee was under way: what it handed to others is called."""


@dataclass
class RoomTrace:
    room_of: Callable[[Path], str]
    """A room from a file's path below the package; OUTSIDE: its calls count as those of whoever calls it."""
    arrows: dict[tuple[str, str], Arrow] = field(default_factory=dict)
    """By caller and callee, in the order of their first call."""
    again: dict[str, set[str]] = field(default_factory=dict)
    """Rooms that were entered after they had been left, and who called them then."""

    def __post_init__(self) -> None:
        self._rooms: dict[CodeType, str] = {}
        self._left: set[str] = set()
        self._began: dict[threading.Thread, list[str]] = {}
        self._thread = threading.local()

    @contextmanager
    def running(self) -> Iterator[None]:
        gc.collect()
        gc.disable()  # What it deletes, and when, would differ from run to run.
        threading.setprofile(self._hear)
        sys.setprofile(self._hear)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)  # type: ignore[arg-type]
            gc.enable()

    def _hear(self, frame: FrameType, event: str, _: object) -> None:
        if event not in ("call", "return"):
            return
        stack: list[str] | None = getattr(self._thread, "stack", None)
        if stack is None:
            stack = self._thread.stack = list(self._began.get(threading.current_thread(), ()))
            self._thread.bottom = len(stack)
        if event == "call":
            self._call(frame, stack)
        elif len(stack) > self._thread.bottom:
            self._return(frame, stack)

    def _call(self, frame: FrameType, stack: list[str]) -> None:
        caller = stack[-1] if stack else OUTSIDE
        room = self._room(frame.f_code) or caller
        if room != caller:
            if (caller, room) not in self.arrows:
                self.arrows[caller, room] = Arrow(caller, room, frame.f_code.co_qualname, room in stack)
            if room in self._left and room not in stack and not _suspended(frame):
                self.again.setdefault(room, set()).add(caller)
        stack.append(room)
        if frame.f_code is threading.Thread.start.__code__:
            self._began[frame.f_locals["self"]] = list(stack)

    def _return(self, frame: FrameType, stack: list[str]) -> None:
        room = stack.pop()
        if room not in stack and not _suspended(frame):
            self._left.add(room)

    def _room(self, code: CodeType) -> str:
        if code not in self._rooms:
            path = Path(code.co_filename)
            self._rooms[code] = self.room_of(path.relative_to(PACKAGE)) if path.is_relative_to(PACKAGE) else OUTSIDE
        return self._rooms[code]


@contextmanager
def compiled_calls_seen() -> Iterator[None]:
    """Calls of the compiled library as calls of `native`: a profiler hears nothing of what ctypes calls."""
    from assay.native.library import library

    loaded = library()
    functions = {name: f for name, f in vars(loaded).items() if isinstance(f, loaded._FuncPtr)} if loaded else {}
    for name, function in functions.items():
        setattr(loaded, name, _seen(name, function))
    try:
        yield
    finally:
        for name, function in functions.items():
            setattr(loaded, name, function)


def _seen(name: str, function: Callable[..., object]) -> Callable[..., object]:
    def called(*given: object) -> object:
        return function(*given)

    file = str(PACKAGE / "native" / "c")
    called.__code__ = called.__code__.replace(co_filename=file, co_name=name, co_qualname=name)
    return called


def _suspended(frame: FrameType) -> bool:
    """Whether a generator stands at a yield, having handed something out or about to go on after it."""
    code = frame.f_code
    if not code.co_flags & GENERATORS:
        return False
    name, operand = dis.opname[code.co_code[frame.f_lasti]], code.co_code[frame.f_lasti + 1]
    return name == "YIELD_VALUE" or (name == "RESUME" and operand != 0)
