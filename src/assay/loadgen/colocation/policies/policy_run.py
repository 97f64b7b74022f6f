from __future__ import annotations

from collections.abc import Sequence
from time import monotonic, monotonic_ns, sleep

from assay.loadgen.colocation.build import build_policy
from assay.loadgen.colocation.config import PipelineConfig, PolicyConfig
from assay.loadgen.colocation.policies.carry_out import carry_out, plan
from assay.loadgen.colocation.policies.decision import Action, Decision
from assay.loadgen.colocation.policies.policy_thread import PolicyFailed, PolicyThread
from assay.loadgen.colocation.policies.request import Request
from assay.loadgen.colocation.policies.state_before import state_before
from assay.loadgen.colocation.running.pipeline_process import PipelineProcess

PATIENCE_S = 10.0
"""Seconds for which a policy may let nothing run; then all go on and stay so, so that a run always ends."""
_LEAST_EVERY_S = 0.01


class PolicyRun:
    """One policy over one run of a group: asks it, does what it asks for, and keeps what became of it."""

    def __init__(self, config: PolicyConfig, pipelines: Sequence[PipelineConfig]) -> None:
        self.name = config.component
        self._policy = build_policy(config)
        self.decisions: list[Decision] = []
        self.problem = ""
        self.released_at = 0
        self._thread = PolicyThread(self._policy, [pipeline.name for pipeline in pipelines], config.timeout)
        self._next_look = 0.0
        self._stood_since: float | None = None
        self._overruled = ""
        """Why nothing may stand still any more; empty while it may."""
        self._refused: set[tuple[str, str, str]] = set()
        self._delays: dict[str, float | None] = {}
        """Delay of each pipeline in seconds from the release; None: until it is started."""

    @property
    def window_s(self) -> float:
        return self._policy.window_s

    def begin(self, pipelines: Sequence[PipelineConfig]) -> tuple[PipelineConfig, ...]:
        """Asks the policy before anything is started; returns the pipelines as they will be."""
        changed = {pipeline.name: pipeline for pipeline in pipelines}
        try:
            requests = self._thread.begin([state_before(pipeline) for pipeline in pipelines])
        except PolicyFailed as failure:
            self._fail(failure)
            return tuple(pipelines)
        for request in requests:
            if request.action == "delay":
                self._delays[request.pipeline] = request.seconds
            elif request.action == "start":
                self._delays.pop(request.pipeline, None)
            changed[request.pipeline], refused = plan(request, changed[request.pipeline])
            self._keep(request, refused, 0.0)
        return tuple(changed.values())

    def release(self, processes: Sequence[PipelineProcess], at: int) -> None:
        self.released_at = at
        for process in processes:
            delay = self._delays.get(process.config.name, 0.0)
            process.start(None if delay is None else at + int(delay * 1e9))
        self._next_look = monotonic() + (at - monotonic_ns()) / 1e9

    def turn(self, processes: Sequence[PipelineProcess], wait_s: float) -> None:
        """Lets the policy look when it is due, and does what it asked for when it has come back; waits at most
        `wait_s`."""
        if self.problem or not self.released_at:
            sleep(wait_s)
            return
        if self._thread.idle and monotonic() >= self._next_look:
            self._next_look = max(self._next_look + max(self._policy.every_s, _LEAST_EVERY_S), monotonic())
            states = [process.state(self.released_at) for process in processes]
            self._thread.look(self._now(), states)
        try:
            requests = self._thread.answer(wait_s)
        except PolicyFailed as failure:
            self._fail(failure)
            return
        by_name = {process.config.name: process for process in processes}
        for request in requests or ():
            at = self._now()
            if self._overruled and request.action in ("pause", "delay"):
                refused: str | None = self._overruled
            else:
                refused = carry_out(request, by_name[request.pipeline])
            if refused is not None:
                self._keep(request, refused, at)
        self._end_standstill(processes)

    def let_end(self, processes: Sequence[PipelineProcess]) -> None:
        """Lets paused pipelines go on at the end of the run: they are asked to end, and must hear it."""
        self._go_on([process for process in processes if process.condition == "paused"], "assay: the run ends")

    def close(self) -> None:
        self._thread.close()

    def _end_standstill(self, processes: Sequence[PipelineProcess]) -> None:
        waiting = [process for process in processes if process.condition != "ended"]
        stands = bool(waiting) and all(process.held for process in waiting)
        if not stands:
            self._stood_since = None
        elif self._stood_since is None:
            self._stood_since = monotonic()
        elif monotonic() - self._stood_since > PATIENCE_S:
            why = f"nothing has run for {PATIENCE_S:g} s"
            self._overruled = f"{why}; from then on nothing is held back"
            self._go_on(processes, f"assay: {why}")

    def _go_on(self, processes: Sequence[PipelineProcess], why: str) -> None:
        for process in processes:
            if process.held:
                action: Action = "resume" if process.condition == "paused" else "start"
                at = self._now()
                carry_out(request := Request(process.config.name, action, why), process)
                self._keep(request, "", at)

    def _fail(self, failure: PolicyFailed) -> None:
        self.problem = f"policy {self.name}: {failure}"

    def _keep(self, request: Request, refused: str, t: float) -> None:
        told = (request.pipeline, request.action, request.value)
        if refused and told in self._refused:
            return
        (self._refused.add if refused else self._refused.discard)(told)
        self.decisions.append(Decision(t, request.pipeline, request.action, request.value, request.reason, refused))

    def _now(self) -> float:
        return (monotonic_ns() - self.released_at) / 1e9 if self.released_at else 0.0
