from __future__ import annotations

import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue
from threading import Thread
from time import monotonic, monotonic_ns, sleep
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.loadgen.colocation.build_components import build_objectives, build_policy, build_scheduler
from assay.loadgen.colocation.colocation_config import PipelineConfig, PolicyConfig
from assay.loadgen.colocation.devices import NoSuchDevice, find_device
from assay.loadgen.colocation.pipeline_limits import limits_problem
from assay.loadgen.colocation.policy import Action, Control, Decision, ObjectiveState, PipelineState, Policy, Request
from assay.loadgen.latency import Objective
from assay.loadgen.load_result import Ints, Measured
from assay.loadgen.shared_counters import OK, PIPELINE, TEST
from assay.loadgen.trace_file import DTYPE, Rows
from assay.process.limits import processors_problem

if TYPE_CHECKING:
    from assay.loadgen.colocation.colocation import GroupOutcome
    from assay.loadgen.colocation.pipeline_process import PipelineProcess


_NEWEST = 32
_UNFINISHED = 1024
"""Streamed rows kept until their query is answered, which may be in the next batch of rows."""


class Recent:
    """The answers of the last `window_s` seconds, and at least the newest ones, of one pipeline."""

    def __init__(self, objectives: Sequence[Objective], window_s: float) -> None:
        self._objectives = tuple(objectives)
        self._window_ns = int(window_s * 1e9)
        self._ends: Ints = np.empty(0, np.int64)
        self._latencies: Ints = np.empty(0, np.int64)
        self._values: list[Ints] = [np.empty(0, np.int64) for _ in self._objectives]
        self._missed = [0] * len(self._objectives)
        self._judged = [0] * len(self._objectives)
        self._streamed: Rows = np.empty(0, DTYPE)

    def see(self, rows: Rows) -> None:
        """Rows as they come from the board; they are copied, as the ring is written again."""
        new = rows[(rows["query"] >= 0) & (rows["stage"] != TEST)]
        answers = new[(new["stage"] == PIPELINE) & (new["status"] == OK)]
        measured = Measured(np.concatenate([self._streamed, new]))
        streamed = measured.rows[measured.rows["first"] > 0]
        self._streamed = streamed[~np.isin(streamed["query"], answers["query"])][-_UNFINISHED:]
        if not len(answers):
            return
        self._ends = np.concatenate([self._ends, measured.queries["end"]])
        self._latencies = np.concatenate([self._latencies, measured.latency])
        values = measured.stream_times()
        for n, objective in enumerate(self._objectives):
            mine = values[objective.of]
            having = mine[mine >= 0]
            self._missed[n] += int(np.count_nonzero(having > objective.seconds * 1e9))
            self._judged[n] += len(having)
            self._values[n] = np.concatenate([self._values[n], mine])
        self._forget(int(self._ends[-1]))

    def _forget(self, now: int) -> None:
        old = min(int(np.searchsorted(self._ends, now - self._window_ns)), max(len(self._ends) - _NEWEST, 0))
        self._ends, self._latencies = self._ends[old:], self._latencies[old:]
        self._values = [values[old:] for values in self._values]

    def figures(self, now: int, started_at: int) -> tuple[float, float, float]:
        """Answers a second, and p50 and p99 of their latency in seconds."""
        recent = self._latencies[self._ends > now - self._window_ns]
        seconds = min(self._window_ns, max(now - started_at, 1)) / 1e9
        if not len(recent):
            return 0.0, float("nan"), float("nan")
        half, most = np.quantile(recent, (0.5, 0.99))
        return len(recent) / seconds, float(half) / 1e9, float(most) / 1e9

    def objectives(self, now: int, released_at: int) -> tuple[ObjectiveState, ...]:
        return tuple(self._state(n, now, released_at) for n in range(len(self._objectives)))

    def _state(self, n: int, now: int, released_at: int) -> ObjectiveState:
        objective, values = self._objectives[n], self._values[n]
        having = values >= 0
        recent = values[having & (self._ends > now - self._window_ns)]
        return ObjectiveState(
            objective=objective,
            recent_s=float(np.quantile(recent, objective.percentile)) / 1e9 if len(recent) else float("nan"),
            newest_s=tuple((values[having][-_NEWEST:] / 1e9).tolist()),
            newest_t=tuple(((self._ends[having][-_NEWEST:] - released_at) / 1e9).tolist()),
            missed=self._missed[n],
            judged=self._judged[n],
        )


def state_before(pipeline: PipelineConfig) -> PipelineState:
    """A pipeline before its processes are started: what its file says, and nothing measured."""
    nothing = float("nan")
    return PipelineState(
        name=pipeline.name,
        condition="waiting",
        until=pipeline.until,
        seconds=0.0,
        paused_s=0.0,
        asked_rate=build_scheduler(pipeline).rate,
        sent=0,
        completed=0,
        failed=0,
        in_flight=0,
        throughput=0.0,
        p50_s=nothing,
        p99_s=nothing,
        silent_s=0.0,
        objectives=Recent(build_objectives(pipeline), 1.0).objectives(0, 0),
        cpu_s=0.0,
        cpus_busy=0.0,
        rss_mb=0.0,
        gpu_pct=None,
        gpu_memory_mb=None,
        cpus=pipeline.cpus,
        device=pipeline.device,
    )


def policy_text(outcome: GroupOutcome) -> str:
    """What a policy did in one run, for a person; empty where there was none."""
    if outcome.policy is None:
        return ""
    done = Counter(decision.action for decision in outcome.decisions if not decision.refused)
    counts = ", ".join(f"{count} × {action}" for action, count in sorted(done.items()))
    lines = [f"policy {outcome.policy}: {counts or 'nothing was changed'}"]
    for pipeline in outcome.pipelines:
        if pipeline.paused_s:
            share = pipeline.paused_s / max(pipeline.result.duration, pipeline.paused_s)
            name, lasted = pipeline.config.name, f"{pipeline.result.duration:.3g} s"
            lines.append(f"  {name} stood still for {pipeline.paused_s:.3g} s of {lasted} ({share:.0%})")
    lines += [
        f"  refused at {decision.t:.3g} s: {decision.action} {decision.pipeline} {decision.value}".rstrip()
        + f": {decision.refused}"
        for decision in outcome.decisions
        if decision.refused
    ]
    if outcome.problem:
        lines.append(f"  {outcome.problem}; the run was ended, and what was measured until then is kept")
    return "\n".join(lines)


def plan(request: Request, pipeline: PipelineConfig) -> tuple[PipelineConfig, str]:
    """The pipeline as asked for, before its processes are started; and why not, where it was refused. A delay is not
    done here: the release keeps it."""
    refused = ""
    update: dict[str, Any] = {}
    if request.action == "place":
        update = {"cpus": request.cpus or pipeline.cpus, "device": request.device or pipeline.device}
        refused = processors_problem(update["cpus"]) or _device_problem(update["device"])
    elif request.action == "resize":
        update = {"limits": request.merge_limits(pipeline.limits)}
        refused = limits_problem()
    elif request.action in ("pause", "resume"):
        refused = "it has not started yet; it can be delayed"
    return (pipeline if refused else pipeline.model_copy(update=update)), refused


def _device_problem(device: str | None) -> str:
    try:
        find_device(device)
    except NoSuchDevice as error:
        return str(error)
    return ""


def carry_out(request: Request, process: PipelineProcess) -> str | None:
    """Does to a running pipeline what was asked. Returns an empty text when it was done, why it was refused, or None
    where there was nothing to do: it is so already, or the pipeline has ended."""
    if process.condition == "ended":
        return None
    try:
        return _DO[request.action](request, process)
    except OSError as error:
        return f"the system refuses: {error.strerror or error}"


def _start(request: Request, process: PipelineProcess) -> str | None:
    if process.condition != "waiting" or process.released:
        return None
    process.start(monotonic_ns())
    return ""


def _delay(request: Request, process: PipelineProcess) -> str | None:
    if process.released:
        return "it has started already; it can be paused"
    process.start(None if request.seconds is None else monotonic_ns() + int(request.seconds * 1e9))
    return ""


def _pause(request: Request, process: PipelineProcess) -> str | None:
    if process.condition == "paused" or process.stopping:
        return None
    if process.condition != "running":
        return "it has not started yet; it can be delayed"
    process.pause.begin()
    return ""


def _resume(request: Request, process: PipelineProcess) -> str | None:
    if process.condition != "paused":
        return None
    process.pause.end()
    return ""


def _place(request: Request, process: PipelineProcess) -> str | None:
    if request.device is not None:
        return "a device can be given only before the pipelines are started, in `begin`"
    cpus = request.cpus or ()
    if process.cpus == cpus:
        return None
    if problem := processors_problem(cpus):
        return problem
    process.place(cpus)
    return ""


def _resize(request: Request, process: PipelineProcess) -> str | None:
    merged = request.merge_limits(process.limits)
    if process.limits == merged:
        return None
    if problem := limits_problem():
        return problem
    process.resize(merged)
    return ""


_DO = {"start": _start, "delay": _delay, "pause": _pause, "resume": _resume, "place": _place, "resize": _resize}

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
