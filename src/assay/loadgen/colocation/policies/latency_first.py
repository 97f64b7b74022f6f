"""Pauses some pipelines while others miss their objectives, or are about to.

Two thresholds, so that it does not flutter (a Schmitt trigger, 1938): what is paused at one goes on only well below it.
It judges by the newest few answers, not by a window of time, and so reacts as well at 5 queries a second as at 5,000.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from assay.loadgen.colocation.policies.control import Control
from assay.loadgen.colocation.policies.pipeline_state import ObjectiveState, PipelineState
from assay.loadgen.colocation.policies.policy import Policy


class LatencyFirst(Policy):
    """`pause`: names of those that give way, all without objectives where none is given. `pause_at` and `resume_at`:
    shares of an objective's time; `answers`: how many of the newest are looked at; `hold_s`: seconds that a pause, and
    what follows it, lasts at least."""

    def __init__(
        self,
        pause: Sequence[str] = (),
        pause_at: float = 0.5,
        resume_at: float = 0.25,
        answers: int = 8,
        hold_s: float = 0.05,
        every_s: float = 0.02,
    ) -> None:
        if not 0 < resume_at < pause_at:
            raise ValueError(f"resume_at must be above 0 and below pause_at ({pause_at:g}), not {resume_at:g}")
        if not 1 <= answers <= 32:
            raise ValueError(f"answers must be 1 to 32, not {answers}")
        if hold_s < 0:
            raise ValueError(f"hold_s must not be negative, as {hold_s:g} is")
        if not every_s > 0:
            raise ValueError(f"every_s must be greater than 0, not {every_s:g}")
        self.pipelines = tuple(pause)
        self._pause_at, self._resume_at = pause_at, resume_at
        self._answers = answers
        self._hold_s = hold_s
        self.every_s = every_s
        self._giving_way: tuple[str, ...] = ()
        self._paused = False
        self._changed_at = float("-inf")

    def begin(self, states: Sequence[PipelineState], control: Control) -> None:
        self._giving_way = self.pipelines or tuple(state.name for state in states if not state.objectives)

    def look(self, now: float, states: Sequence[PipelineState], control: Control) -> None:
        protected = [s for s in states if s.name not in self._giving_way and s.condition == "running"]
        strains = [self._strain(state, one) for state in protected for one in state.objectives]
        worst, words = max(strains, default=(0.0, "nothing is left to protect"))
        due = worst <= self._resume_at if self._paused else worst >= self._pause_at
        if due and (not strains or now - self._changed_at >= self._hold_s):
            self._paused, self._changed_at = not self._paused, now
        for state in states:
            if state.name in self._giving_way:
                if self._paused and state.condition == "running":
                    control.pause(state.name, words)
                elif not self._paused and state.condition == "paused":
                    control.resume(state.name, words)

    def _strain(self, state: PipelineState, of: ObjectiveState) -> tuple[float, str]:
        """Share of its time that an objective has used, 1 being all, and why; while others are paused, by the answers
        since."""
        since = self._changed_at if self._paused else float("-inf")
        newest = [value for value, t in zip(of.newest_s, of.newest_t, strict=True) if t > since][-self._answers :]
        taken = _percentile(newest, of.objective.percentile)
        if of.objective.of == "latency":
            # An answer that is still to come has taken this long at least.
            taken = max(taken, state.silent_s)
        if self._paused and not newest and state.in_flight:
            # Nothing was answered since the pause began: whether it helps is not known yet.
            taken = max(taken, self._pause_at * of.objective.seconds)
        words = f"{state.name}: {of.objective.name}, {taken * 1e3:.3g} ms now"
        return taken / of.objective.seconds, words if newest or taken else f"{state.name} has nothing to do"


def _percentile(values: Sequence[float], share: float) -> float:
    """Percentile by nearest rank; 0 where there are no values."""
    return sorted(values)[ceil(share * len(values)) - 1] if values else 0.0
