"""Pauses some pipelines while others miss their objectives, or are about to.

Two thresholds, so that it does not flutter (a Schmitt trigger, 1938): what is paused at one goes on only well below it.
It judges by the newest few answers, not by a window of time, and so reacts as well at 5 queries a second as at 5,000.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any, Literal

from pydantic import ValidationError

from assay.loadgen.colocation.colocation_config import LimitsConfig
from assay.loadgen.latency import Objective
from assay.names import unknown

Action = Literal["start", "delay", "pause", "resume", "place", "resize"]


@dataclass(frozen=True)
class Decision:
    """One thing a policy asked for, and what became of it."""

    t: float
    """Seconds from the release of the run; 0 for what was decided before it."""
    pipeline: str
    action: Action
    value: str
    """What was asked for beside the action (`cpus 0,1`, `2 s`); empty where the action says it all."""
    reason: str
    """The policy's own words."""
    refused: str = ""
    """Why it was not done; empty when it was."""

    def to_json(self) -> dict[str, Any]:
        return {
            "t": self.t,
            "pipeline": self.pipeline,
            "action": self.action,
            "value": self.value,
            "reason": self.reason,
            "refused": self.refused,
        }


@dataclass(frozen=True)
class Request:
    """One thing that a policy asks for."""

    pipeline: str
    action: Action
    reason: str
    seconds: float | None = None
    """Length of a delay; None: until it is started."""
    cpus: tuple[int, ...] | None = None
    device: str | None = None
    limits: LimitsConfig | None = None

    @property
    def value(self) -> str:
        """What is asked for beside the action, in words for people."""
        words = []
        if self.action == "delay":
            words.append("until it is started" if self.seconds is None else f"{self.seconds:g} s")
        if self.cpus is not None:
            words.append("cpus " + ",".join(map(str, self.cpus)))
        if self.device is not None:
            words.append(f"device {self.device}")
        if self.limits is not None:
            given = self.limits.model_dump(exclude_none=True)
            words += [f"{name} {value:g}" for name, value in given.items()]
        return ", ".join(words)

    def merge_limits(self, before: LimitsConfig | None) -> LimitsConfig:
        """The limits that will hold: those asked for, and for a limit that was not named the one there was."""
        old = {} if before is None else before.model_dump(exclude_none=True)
        new = {} if self.limits is None else self.limits.model_dump(exclude_none=True)
        return LimitsConfig.model_validate({**old, **new})


Condition = Literal["waiting", "running", "paused", "ended"]


@dataclass(frozen=True)
class ObjectiveState:
    """How one objective of a pipeline is kept. Times are in seconds."""

    objective: Objective
    recent_s: float
    """The objective's percentile over the policy's window; NaN where nothing was answered in it."""
    newest_s: tuple[float, ...]
    """What the newest answers took, oldest first, at most 32."""
    newest_t: tuple[float, ...]
    """When each of them came, in seconds from the release."""
    missed: int
    """Answers since the start that took longer than the objective allows."""
    judged: int
    """Answers since the start that the objective applies to."""


@dataclass(frozen=True)
class PipelineState:
    """One pipeline as a policy sees it. Recent figures are of the last `Policy.window_s` seconds."""

    name: str
    condition: Condition
    """`waiting`: not released yet; `paused`: all its processes stand still."""
    until: Literal["own", "others_end"]
    """What ends it: its own load, or the end of the others."""
    seconds: float
    """Seconds since its own start, pauses included; 0 before it."""
    paused_s: float
    """Seconds it has stood still, in all."""
    asked_rate: float | None
    """Queries a second that its schedule asks for; None where the pipeline sets the pace."""
    sent: int
    completed: int
    failed: int
    in_flight: int
    throughput: float
    """Recent answers a second."""
    p50_s: float
    """Recent median latency from the intended time; NaN where nothing was answered."""
    p99_s: float
    silent_s: float
    """Seconds for which a query has been under way and nothing was answered, at least; 0 while it is paused."""
    objectives: tuple[ObjectiveState, ...]
    cpu_s: float
    """CPU time of all its processes since they were started, set-up included. This and what follows is sampled twice a
    second."""
    cpus_busy: float
    """Processors kept busy between the last two samples."""
    rss_mb: float
    """Memory of all its processes."""
    gpu_pct: float | None
    """Share of GPUs' processors that its own processes take, 100 being one GPU; None where no GPU tells."""
    gpu_memory_mb: float | None
    """Memory of GPUs that they hold; None where no GPU tells."""
    cpus: tuple[int, ...]
    """Processors it was placed on; empty: any."""
    device: str | None
    """What it was given: `cpu`, `cuda:0`; None: its stages choose."""


class Control:
    """What a policy may ask for. It is done after the call of the policy returns, in the order asked.

    What makes no sense at any time (no such pipeline, a negative share) raises ValueError here. What cannot be done
    now or on this machine is refused, and the reason is in the run's decisions. Asking for what is so already, or of a
    pipeline that has ended, is nothing: a policy may say at every look how things should be.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._names = tuple(names)
        self.requests: list[Request] = []

    def start(self, pipeline: str, reason: str = "") -> None:
        """Ends a delay."""
        self._ask(Request(pipeline, "start", reason))

    def delay(self, pipeline: str, seconds: float | None = None, reason: str = "") -> None:
        """Releases it later than the others: `seconds` from now (asked in `begin`: from the release); without them,
        when it is started."""
        if seconds is not None and not 0 <= seconds < float("inf"):
            raise ValueError(f"a delay must be 0 seconds or more, not {seconds}")
        self._ask(Request(pipeline, "delay", reason, seconds=seconds))

    def pause(self, pipeline: str, reason: str = "") -> None:
        """Has all its processes stand still, at once. Its queries still come: their latency counts the pause."""
        self._ask(Request(pipeline, "pause", reason))

    def resume(self, pipeline: str, reason: str = "") -> None:
        self._ask(Request(pipeline, "resume", reason))

    def place(
        self, pipeline: str, cpus: Sequence[int] | None = None, device: str | None = None, reason: str = ""
    ) -> None:
        """Moves the pipeline to these processors, from now on. A device can be given in `begin` only."""
        if cpus is None and device is None:
            raise ValueError(f"where should {pipeline} be placed? give cpus or a device")
        if cpus is not None and (not cpus or not all(type(cpu) is int and cpu >= 0 for cpu in cpus)):
            raise ValueError(f"cpus must be numbers of processors, not {cpus!r}")
        numbers = None if cpus is None else tuple(sorted(set(cpus)))
        self._ask(Request(pipeline, "place", reason, cpus=numbers, device=device))

    def resize(
        self,
        pipeline: str,
        cpus: float | None = None,
        cpu_weight: int | None = None,
        memory_mb: int | None = None,
        reason: str = "",
    ) -> None:
        """`cpus`: processors' worth of time, at most; `cpu_weight`: its share where others want them too, 1 to 10,000,
        usually 100. What is left out stays as it is."""
        given = {"cpus": cpus, "cpu_weight": cpu_weight, "memory_mb": memory_mb}
        if all(value is None for value in given.values()):
            raise ValueError(f"how should {pipeline} be resized? give cpus, cpu_weight or memory_mb")
        try:
            limits = LimitsConfig.model_validate(given)
        except ValidationError as error:
            first = error.errors()[0]
            raise ValueError(f"{first['loc'][0]}: {first['msg']}, not {first['input']!r}") from None
        self._ask(Request(pipeline, "resize", reason, limits=limits))

    def _ask(self, request: Request) -> None:
        if request.pipeline not in self._names:
            raise ValueError(unknown("pipeline", request.pipeline, self._names))
        if not isinstance(request.reason, str):
            raise ValueError(f"a reason must be text, not {request.reason!r}")
        self.requests.append(request)


class Policy(ABC):
    """Who runs, where, and with how much of the machine, while pipelines run beside each other.

    Its constructor takes the keys of `policy.config`. There is a new one for each run of a group. It runs beside the
    pipelines, in Assay's own process and in one thread: what it spends on a look is taken from the machine.
    """

    every_s: float = 0.1
    """Seconds from one look to the next."""
    window_s: float = 1.0
    """Seconds that the recent figures of a state are of."""

    pipelines: tuple[str, ...] = ()
    """Names in its configuration: each must be a pipeline of the file. In a run of a matrix some of them may be absent.
    """

    def begin(self, states: Sequence[PipelineState], control: Control) -> None:
        """Before any process is started: the one time at which a device can be given."""

    @abstractmethod
    def look(self, now: float, states: Sequence[PipelineState], control: Control) -> None:
        """Called all the time from the release on until the last pipeline has ended; `now` is in seconds from the
        release."""


class AllAtOnce(Policy):
    """All pipelines are released at one instant and left alone, as without a policy."""

    def look(self, now: float, states: Sequence[PipelineState], control: Control) -> None:
        return


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
