from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from pathlib import Path
from time import monotonic, monotonic_ns, sleep
from typing import TYPE_CHECKING

from assay.errors import UsageError
from assay.loadgen.colocation.colocation_config import ColocationConfig, PipelineConfig
from assay.loadgen.colocation.pipeline_process import RELEASE_IN_NS, PipelineProcess
from assay.loadgen.colocation.pipeline_worker import PipelineProgress, as_run
from assay.loadgen.colocation.policy import Decision
from assay.loadgen.colocation.policy_run import PolicyRun
from assay.loadgen.colocation.slowdown import Contrast
from assay.loadgen.load_result import LoadResult
from assay.loadgen.shared_counters import ENDED_AT, STARTED_AT
from assay.names import unknown
from assay.process.leftovers import exit_on_termination

if TYPE_CHECKING:
    from assay.loadgen.colocation.devices import GpuUsage


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


Group = tuple[str, ...]
"""Names of pipelines that run together; a name that is there twice means the pipeline and a copy of it."""


def pairs(config: ColocationConfig, diagonal: bool = True) -> tuple[Group, ...]:
    """Every two pipelines, and each beside a copy of itself."""
    names = [pipeline.name for pipeline in config.pipelines]
    return (*((name, name) for name in names if diagonal), *combinations(names, 2))


def parse_groups(config: ColocationConfig, words: Sequence[str]) -> tuple[Group, ...]:
    known = [pipeline.name for pipeline in config.pipelines]
    groups = []
    for word in words:
        group = tuple(name.strip() for name in word.split("+"))
        for name in group:
            if name not in known:
                raise UsageError(f"--group {word}: {unknown('pipeline', name, known)}")
        if len(group) < 2:
            raise UsageError(
                f"--group {word}: name two or more pipelines, joined by +; one named twice runs beside a copy"
            )
        groups.append(group)
    return tuple(groups)


def neighbours(group: Group, name: str) -> Group:
    """The others of the group; for a pipeline beside its copy, its own name again."""
    at = group.index(name)
    return (*group[:at], *group[at + 1 :])


def members(config: ColocationConfig, group: Group) -> list[PipelineConfig]:
    taken = {folder_name(pipeline.name) for pipeline in config.pipelines}
    found: list[PipelineConfig] = []
    for at, name in enumerate(group):
        pipeline = config.pipeline(name)
        if name in group[:at]:
            pipeline = _copy(pipeline, at, taken)
        found.append(pipeline)
    return found


def _copy(pipeline: PipelineConfig, number: int, taken: set[str]) -> PipelineConfig:
    """The same under another name, with another seed: its queries come at their own times, as another user's would."""
    name, again = f"{pipeline.name} (copy)", 2
    while folder_name(name) in taken:
        name, again = f"{pipeline.name} (copy {again})", again + 1
    taken.add(folder_name(name))
    loadgen = pipeline.loadgen.model_copy(update={"seed": pipeline.loadgen.seed + number})
    return pipeline.model_copy(update={"name": name, "loadgen": loadgen})


@dataclass(frozen=True)
class ColocatedRun:
    """One group that ran: alone, together, in a round, at a rate."""

    label: str
    """Its folder, below the folder of results."""
    outcome: GroupOutcome
    round: int = 1


@dataclass(frozen=True)
class Matrix:
    """Every pipeline alone and in its groups, in one or more rounds."""

    names: tuple[str, ...]
    groups: tuple[Group, ...]
    runs: tuple[ColocatedRun, ...]
    solo: dict[str, list[GroupOutcome]]
    together: dict[Group, list[GroupOutcome]]

    @property
    def success(self) -> bool:
        return all(run.outcome.success for run in self.runs)

    @cached_property
    def contrasts(self) -> tuple[Contrast, ...]:
        return tuple(
            Contrast.of(name, neighbours(group, name), self.solo[name], self.together[group])
            for group in self.groups
            for name in dict.fromkeys(group)
        )

    def contrast(self, name: str, beside: Group) -> Contrast | None:
        """What being beside these did to the pipeline; None where they did not run together."""
        return next((c for c in self.contrasts if c.pipeline == name and sorted(c.beside) == sorted(beside)), None)


def run_matrix(
    colocation: Colocation,
    config: ColocationConfig,
    groups: Sequence[Group],
    repeat: int = 1,
    keep: Callable[[GroupOutcome], None] = lambda outcome: None,
) -> Matrix:
    """Every round runs each pipeline alone and then the groups, so that what drifts on the machine hits both. `keep`
    is told of each run when it has ended."""
    names = tuple(dict.fromkeys(name for group in groups for name in group))
    if not names:
        raise UsageError("a matrix needs at least two pipelines, or one beside a copy of itself")
    solo: dict[str, list[GroupOutcome]] = {name: [] for name in names}
    together: dict[Group, list[GroupOutcome]] = {group: [] for group in groups}
    runs = []
    for number, label, group, rounds in _plan(names, groups, repeat, solo, together):
        outcome = colocation.run(members(config, group), label)
        keep(outcome)
        runs.append(ColocatedRun(label, outcome, number))
        rounds.append(outcome)
        if not outcome.success:
            # What was measured is kept; a matrix with a pipeline that cannot run is not worth the rest of the time.
            break
    return Matrix(names, tuple(groups), tuple(runs), solo, together)


def _plan(
    names: Sequence[str],
    groups: Sequence[Group],
    repeat: int,
    solo: dict[str, list[GroupOutcome]],
    together: dict[Group, list[GroupOutcome]],
) -> Iterator[tuple[int, str, Group, list[GroupOutcome]]]:
    for number in range(1, repeat + 1):
        prefix = f"round-{number:02d}/" if repeat > 1 else ""
        for name in names:
            yield number, f"{prefix}solo-{folder_name(name)}", (name,), solo[name]
        for group in groups:
            yield number, prefix + "+".join(folder_name(name) for name in group), group, together[group]
