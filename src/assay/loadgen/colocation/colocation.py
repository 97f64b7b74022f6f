from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic, monotonic_ns, sleep

from assay.errors import UsageError
from assay.loadgen.board import ENDED_AT, STARTED_AT
from assay.loadgen.colocation.accelerators.gpu_usage import GpuUsage
from assay.loadgen.colocation.config import ColocationConfig, PipelineConfig
from assay.loadgen.colocation.policies.decision import Decision
from assay.loadgen.colocation.policies.policy_run import PolicyRun
from assay.loadgen.colocation.running.pipeline_process import RELEASE_IN_NS, PipelineProcess
from assay.loadgen.colocation.running.pipeline_progress import PipelineProgress
from assay.loadgen.colocation.running.until import as_run
from assay.loadgen.result import LoadResult
from assay.process.termination import exit_on_termination

_LOOK_EVERY_S = 0.02
_PROGRESS_EVERY_S = 1.0

Listener = Callable[[Sequence[PipelineProgress]], None]


@dataclass(frozen=True)
class PipelineOutcome:
    """One pipeline of a group: what it did, and what its processes used."""

    config: PipelineConfig
    result: LoadResult
    cpu_s: float
    peak_rss_mb: float
    folder: Path
    paused_s: float = 0.0
    """Seconds for which a policy kept it frozen."""
    gpu: GpuUsage | None = None


@dataclass(frozen=True)
class GroupOutcome:
    """Pipelines that ran together. `window` is the time, on the monotonic clock, in which all of them were running."""

    pipelines: tuple[PipelineOutcome, ...]
    window: tuple[int, int]
    released_at: int = 0
    """The instant, on the monotonic clock in nanoseconds, that times of decisions count from; 0: never released."""
    policy: str | None = None
    """The policy's name in the configuration; None where every pipeline was left alone."""
    decisions: tuple[Decision, ...] = ()
    problem: str = ""
    """Why the policy itself ended the run: it raised or hung. Empty when it did not."""

    @property
    def success(self) -> bool:
        return not self.problem and all(outcome.result.ending.success for outcome in self.pipelines)

    def __getitem__(self, name: str) -> PipelineOutcome:
        return next(outcome for outcome in self.pipelines if outcome.config.name == name)


class Colocation:
    """Runs pipelines beside each other, each in its own process, released at one instant.

    One that dies or hangs ends the run: its neighbours are asked to stop, and what they measured is kept.
    """

    def __init__(self, config: ColocationConfig, results: Path, listener: Listener | None = None) -> None:
        self._config = config
        # Processes are started in another folder, so the path must be absolute.
        self._results = results.resolve()
        self._listener = listener

    def run(self, pipelines: Sequence[PipelineConfig], label: str) -> GroupOutcome:
        with exit_on_termination():
            return self._run(pipelines, label)

    def _run(self, pipelines: Sequence[PipelineConfig], label: str) -> GroupOutcome:
        configs = as_run(pipelines, self._config)
        policy = self._policy(configs)
        started: list[PipelineProcess] = []
        try:
            for config in configs if policy is None else policy.begin(configs):
                folder = self._results / label / folder_name(config.name)
                started.append(PipelineProcess(config, folder, None if policy is None else policy.window_s))
            released_at = self._release(started, policy)
            self._watch(started, policy)
        finally:
            # Whatever happened, Ctrl-C included: nothing is left running.
            for process in started:
                if not process.over:
                    process.stop()
            outcomes = _note_sharing([self._finish(process) for process in started])
            if policy is not None:
                policy.close()
        pages = [process.board.page for process in started]
        window = (
            max(page[STARTED_AT] for page in pages),
            min(page[ENDED_AT] or _last(o) for page, o in zip(pages, outcomes, strict=True)),
        )
        if policy is None:
            return GroupOutcome(tuple(outcomes), window, released_at)
        decided = tuple(policy.decisions)
        return GroupOutcome(tuple(outcomes), window, released_at, policy.name, decided, policy.problem)

    def _policy(self, pipelines: Sequence[PipelineConfig]) -> PolicyRun | None:
        """The policy of this run; None for a pipeline that is measured alone though the file has others: the figure
        that others are compared with must be that of an empty machine."""
        config = self._config.policy
        if config is None or (len(pipelines) == 1 and len(self._config.pipelines) > 1):
            return None
        return PolicyRun(config, pipelines)

    def _release(self, processes: Sequence[PipelineProcess], policy: PolicyRun | None) -> int:
        """The instant of the release; 0 where there was none."""
        until = monotonic() + self._config.setup_timeout
        while not all(process.ready and not process.over for process in processes):
            if policy is not None and policy.problem:
                for process in processes:
                    process.end("ended before the start: the policy failed")
                return 0
            if any(process.over for process in processes):
                return 0
            if monotonic() > until:
                for process in processes:
                    if not process.ready:
                        process.end(
                            f"not ready within setup_timeout ({self._config.setup_timeout:g} s, the time limit)"
                        )
                return 0
            self._drain(processes)
            sleep(_LOOK_EVERY_S)
        at = monotonic_ns() + RELEASE_IN_NS
        if policy is not None:
            policy.release(processes, at)
        else:
            for process in processes:
                process.start(at)
        return at

    def _watch(self, processes: Sequence[PipelineProcess], policy: PolicyRun | None) -> None:
        next_word = monotonic() + _PROGRESS_EVERY_S
        while not all(process.over for process in processes):
            self._drain(processes)
            for process in processes:
                process.release_due()
                process.check(self._config.stall_timeout)
            failed = any(process.failed for process in processes) or (policy is not None and policy.problem)
            if failed or _is_over(processes):
                if policy is not None:
                    policy.let_end(processes)
                for process in processes:
                    process.stop()
            if self._listener is not None and monotonic() >= next_word:
                next_word += _PROGRESS_EVERY_S
                self._listener([process.progress() for process in processes])
            if policy is not None:
                policy.turn(processes, _LOOK_EVERY_S)
            else:
                sleep(_LOOK_EVERY_S)
        if self._listener is not None:
            self._drain(processes)
            self._listener([process.progress() for process in processes])

    def _drain(self, processes: Sequence[PipelineProcess]) -> None:
        for process in processes:
            process.drain()

    def _finish(self, process: PipelineProcess) -> PipelineOutcome:
        result = process.finish(self._config.listeners)
        cpu, peak = process.usage.get("cpu_s", 0.0), process.usage.get("peak_rss_mb", 0.0)
        return PipelineOutcome(process.config, result, cpu, peak, process.results, process.pause.seconds, process.gpu)


def _note_sharing(outcomes: Sequence[PipelineOutcome]) -> list[PipelineOutcome]:
    used = {outcome.config.name: outcome.gpu for outcome in outcomes if outcome.gpu is not None}
    others = {name: {other: gpu for other, gpu in used.items() if other != name} for name in used}
    return [replace(o, gpu=o.gpu.beside(others[o.config.name])) if o.gpu is not None else o for o in outcomes]


def _last(outcome: PipelineOutcome) -> int:
    """When the pipeline ended; one that was killed ran, as far as anyone knows, until its last answer."""
    queries = outcome.result.measured.queries
    return int(queries["end"][-1]) if len(queries) else outcome.result.started_at


def _is_over(processes: Sequence[PipelineProcess]) -> bool:
    """Whether only antagonists are left, which are there for the others."""
    return all(process.over for process in processes if process.config.until == "own")


def folder_name(name: str) -> str:
    word = "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in name).strip(".-")
    if not word:
        raise UsageError(f"pipeline {name!r} needs a letter or a digit in its name")
    return word
