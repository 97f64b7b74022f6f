"""Policies for the tests of colocation, found by dotted path as a user's own are."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from assay.loadgen import Control, PipelineState, Policy


class Watch(Policy):
    """Keeps every state it is told, for the test to look at."""

    every_s = 0.02
    seen: list[tuple[float, dict[str, PipelineState]]] = []

    def __init__(self) -> None:
        self.seen.clear()

    def look(self, now: float, states: Sequence[PipelineState], control: Control) -> None:
        self.seen.append((now, {state.name: state for state in states}))


class PauseBetween(Policy):
    every_s = 0.02

    def __init__(self, name: str, begin: float, end: float) -> None:
        self.pipelines = (name,)
        self.begin_s, self.end_s = begin, end

    def look(self, now: float, states: Sequence[PipelineState], control: Control) -> None:
        if self.begin_s <= now < self.end_s:
            control.pause(self.pipelines[0], "its time to rest")
        elif now >= self.end_s:
            control.resume(self.pipelines[0], "it has rested")


class PauseBesideGpu(Policy):
    """Pauses those without a GPU once another is seen on one."""

    def look(self, now: float, states: Sequence[PipelineState], control: Control) -> None:
        for user in (state for state in states if state.gpu_memory_mb):
            for other in (state for state in states if state.gpu_memory_mb is None and state.condition == "running"):
                control.pause(other.name, f"{user.name} takes {user.gpu_pct:g}% and {user.gpu_memory_mb:g} MB of a GPU")


class PauseForEver(Policy):
    every_s = 0.02

    def look(self, now: float, states: Sequence[PipelineState], control: Control) -> None:
        for state in states:
            control.pause(state.name)


class Bad(Policy):
    """Does what no policy should, at the second look or before anything has begun."""

    every_s = 0.02

    def __init__(self, how: str, early: bool = False) -> None:
        self.how, self.early = how, early
        self.looks = 0

    def begin(self, states: Sequence[PipelineState], control: Control) -> None:
        if self.early:
            self._go_wrong(control)

    def look(self, now: float, states: Sequence[PipelineState], control: Control) -> None:
        self.looks += 1
        if self.looks == 3:
            control.pause("b", "before it goes wrong")
        if self.looks == 6:
            self._go_wrong(control)

    def _go_wrong(self, control: Control) -> None:
        if self.how == "raise":
            raise ZeroDivisionError("three by nothing")
        if self.how == "hang":
            time.sleep(60)
        if self.how == "name":
            control.pause("c")
        if self.how == "share":
            control.resize("b", cpu_weight=0)


class Late(Policy):
    """b is held until a has been answered ten times; c comes a quarter of a second after the release."""

    every_s = 0.02

    def begin(self, states: Sequence[PipelineState], control: Control) -> None:
        control.delay("b", reason="a comes first")
        control.delay("c", 0.25)

    def look(self, now: float, states: Sequence[PipelineState], control: Control) -> None:
        if any(state.name == "a" and state.completed >= 10 for state in states):
            control.start("b", "a is under way")


class Ask(Policy):
    """The same at every look, as a policy that only says how things should be."""

    every_s = 0.02

    def __init__(self, asked: Sequence[tuple[str, dict[str, Any]]], early: bool = False) -> None:
        self.asked, self.early = asked, early

    def begin(self, states: Sequence[PipelineState], control: Control) -> None:
        if self.early:
            self._ask(control)

    def look(self, now: float, states: Sequence[PipelineState], control: Control) -> None:
        if not self.early:
            self._ask(control)

    def _ask(self, control: Control) -> None:
        for action, arguments in self.asked:
            getattr(control, action)("b", **arguments)


class NoLook(Policy):
    pass


class Restless(Watch):
    every_s = 0
