from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, monotonic_ns, sleep

from assay.errors import UsageError
from assay.loadgen.board import ENDED_AT, STARTED_AT
from assay.loadgen.colocation.config import ColocationConfig, PipelineConfig
from assay.loadgen.colocation.pipeline_process import PipelineProcess
from assay.loadgen.colocation.policies.decision import Decision
from assay.loadgen.colocation.progress import Progress
from assay.loadgen.colocation.termination import terminated_as_exit
from assay.loadgen.colocation.until import as_run
from assay.loadgen.result import LoadResult

_LOOK_EVERY_S = 0.02
_PROGRESS_EVERY_S = 1.0
_RELEASE_IN_NS = 50_000_000

Listener = Callable[[Sequence[Progress]], None]


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
        # Processes are started from elsewhere.
        self._results = results.resolve()
        self._listener = listener

    def run(self, pipelines: Sequence[PipelineConfig], label: str) -> GroupOutcome:
        with terminated_as_exit():
            return self._run(pipelines, label)

    def _run(self, pipelines: Sequence[PipelineConfig], label: str) -> GroupOutcome:
        started: list[PipelineProcess] = []
        try:
            for config in as_run(pipelines, self._config):
                started.append(PipelineProcess(config, self._results / label / folder_name(config.name)))
            self._release(started)
            self._watch(started)
        finally:
            # Whatever happened, Ctrl-C included: nothing is left running.
            for process in started:
                if not process.over:
                    process.stop()
            outcomes = [self._finish(process) for process in started]
        pages = [process.board.page for process in started]
        window = (
            max(page[STARTED_AT] for page in pages),
            min(page[ENDED_AT] or _last(o) for page, o in zip(pages, outcomes, strict=True)),
        )
        return GroupOutcome(tuple(outcomes), window)

    def _release(self, processes: Sequence[PipelineProcess]) -> None:
        until = monotonic() + self._config.setup_timeout
        while not all(process.ready and not process.over for process in processes):
            if any(process.over for process in processes):
                return
            if monotonic() > until:
                for process in processes:
                    if not process.ready:
                        process.end(
                            f"not ready within setup_timeout ({self._config.setup_timeout:g} s, the time limit)"
                        )
                return
            self._drain(processes)
            sleep(_LOOK_EVERY_S)
        at = monotonic_ns() + _RELEASE_IN_NS
        for process in processes:
            process.start(at)

    def _watch(self, processes: Sequence[PipelineProcess]) -> None:
        next_word = monotonic() + _PROGRESS_EVERY_S
        while not all(process.over for process in processes):
            self._drain(processes)
            for process in processes:
                process.check(self._config.stall_timeout)
            if any(process.failed for process in processes) or _measured_over(processes):
                for process in processes:
                    process.stop()
            if self._listener is not None and monotonic() >= next_word:
                next_word += _PROGRESS_EVERY_S
                self._listener([process.progress() for process in processes])
            sleep(_LOOK_EVERY_S)
        if self._listener is not None:
            self._drain(processes)
            self._listener([process.progress() for process in processes])

    def _drain(self, processes: Sequence[PipelineProcess]) -> None:
        for process in processes:
            process.drain()

    def _finish(self, process: PipelineProcess) -> PipelineOutcome:
        result = process.finish()
        cpu, peak = process.usage.get("cpu_s", 0.0), process.usage.get("peak_rss_mb", 0.0)
        return PipelineOutcome(process.config, result, cpu, peak, process.results)


def _last(outcome: PipelineOutcome) -> int:
    """A pipeline that was killed ran, as far as anyone knows, until its last answer."""
    queries = outcome.result.measured.queries
    return int(queries["end"][-1]) if len(queries) else outcome.result.started_at


def _measured_over(processes: Sequence[PipelineProcess]) -> bool:
    """Only antagonists are left, and they are there for the others."""
    return all(process.over for process in processes if process.config.until == "own")


def folder_name(name: str) -> str:
    word = "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in name).strip(".-")
    if not word:
        raise UsageError(f"pipeline {name!r} needs a letter or a digit in its name")
    return word
