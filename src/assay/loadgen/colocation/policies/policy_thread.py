from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue
from threading import Thread
from time import monotonic

from assay.loadgen.colocation.policies.control import Control
from assay.loadgen.colocation.policies.pipeline_state import PipelineState
from assay.loadgen.colocation.policies.policy import Policy
from assay.loadgen.colocation.policies.request import Request

Call = Callable[[Control], None]


class PolicyFailed(Exception):
    """The policy raised, or does not come back."""


class PolicyThread:
    """Where a policy runs, so that pipelines are watched and drained however long it thinks."""

    def __init__(self, policy: Policy, names: Sequence[str], timeout_s: float) -> None:
        self._policy = policy
        self._names = tuple(names)
        self._timeout_s = timeout_s
        self._calls: SimpleQueue[Call | None] = SimpleQueue()
        self._answers: SimpleQueue[list[Request] | Exception] = SimpleQueue()
        self._asked_at: float | None = None
        self._asked = ""
        # A daemon: one that hangs does not keep Assay from ending.
        Thread(target=self._run, daemon=True, name="policy").start()

    @property
    def idle(self) -> bool:
        return self._asked_at is None

    def begin(self, states: Sequence[PipelineState]) -> list[Request]:
        self._ask("begin", lambda control: self._policy.begin(states, control))
        while (answer := self.answer(0.02)) is None:
            pass
        return answer

    def look(self, now: float, states: Sequence[PipelineState]) -> None:
        self._ask(f"look at {now:.2f} s", lambda control: self._policy.look(now, states, control))

    def answer(self, wait_s: float) -> list[Request] | None:
        """What it asks for; None where it has not come back yet, or was not called. Raises PolicyFailed."""
        try:
            answer = self._answers.get(timeout=wait_s)
        except Empty:
            if self._asked_at is not None and monotonic() - self._asked_at > self._timeout_s:
                raise PolicyFailed(f"{self._asked} has not returned after {self._timeout_s:g} s") from None
            return None
        self._asked_at = None
        if isinstance(answer, Exception):
            raise PolicyFailed(f"{self._asked} raised {_describe(answer)}") from answer
        return answer

    def close(self) -> None:
        self._calls.put(None)

    def _ask(self, words: str, call: Call) -> None:
        self._asked, self._asked_at = words, monotonic()
        self._calls.put(call)

    def _run(self) -> None:
        while (call := self._calls.get()) is not None:
            control = Control(self._names)
            try:
                call(control)
            except Exception as error:  # noqa: BLE001  (a policy of a user's may raise anything; the run says what)
                self._answers.put(error)
            else:
                self._answers.put(control.requests)


def _describe(error: Exception) -> str:
    """The error in words, with the line of the policy that it came from: there is no traceback to look at."""
    frames = traceback.extract_tb(error.__traceback__)[1:]
    where = next((frame for frame in reversed(frames) if "/assay/loadgen/colocation/" not in frame.filename), None)
    at = f" ({where.filename}:{where.lineno})" if where else ""
    text = str(error)
    return (f"{type(error).__name__}: {text}" if text else type(error).__name__) + at
