from __future__ import annotations

import os
import shlex
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from assay.compat.user_code import with_stand_ins
from assay.config.entry import results_path
from assay.errors import AssayError
from assay.files.json_text import shorten
from assay.process.leftovers import SESSION
from assay.process.spec import ProcessResult, ProcessSpec, unended_warnings
from assay.process.supervisor_client import Supervised
from assay.record.secrets import Masker
from assay.session import machine
from assay.session.capture_environment import AskedInterpreter, InterpreterUnknown
from assay.session.events import Interrupts, Listener, RunSampled, RunStarted
from assay.session.machine_watch import GpuSampler, Profiler, gpu_memory_warnings
from assay.session.preflight import Interpreters, missing_datasets
from assay.session.ray_cluster import RayCluster
from assay.session.results.judge import last_words
from assay.session.runs import Run
from assay.session.service.services import ServedRun, ServiceFailed
from assay.session.workspace import Workspace

if TYPE_CHECKING:
    from assay.session.service.services import Services


INTERRUPTED = "interrupted"
_LOOK_EVERY_S = 0.25
_LONGEST = 400
"""Characters of what it said last."""


class UntimedCommand:
    """What `--prepare` or `--cleanup` names, run beside a program: with its environment, folder and limits, and under a
    supervisor of its own; its output goes to `logs/prepare.log` or `logs/cleanup.log`."""

    def __init__(self, name: str, argv: tuple[str, ...], interrupts: Interrupts, answered: int = 0) -> None:
        """`answered`: signals that have ended something else already; the next one ends this."""
        self._name, self._argv, self._interrupts, self._answered = name, argv, interrupts, answered
        self.interrupted = False
        self.warnings: list[str] = []

    def run(self, beside: ProcessSpec, workspace: Workspace) -> str:
        """Why it failed, in words; empty if it did not."""
        log = workspace.logs / f"{self._name}.log"
        spec = replace(
            beside, argv=self._argv, stdout=workspace.logs / f"{self._name}-stdout.log",
            stderr=workspace.logs / f"{self._name}-stderr.log", combined=log, usage_csv=None, companion=None,
            namespace=False, gpus=None,
        )  # fmt: skip
        try:
            result = self._watch(Supervised(spec))
        except OSError as error:
            result = ProcessResult(failure=error.strerror or str(error))
        except AssayError as error:
            result = ProcessResult(failure=str(error))
        self.warnings = unended_warnings(result.immortal, f" of --{self._name}")
        why = self._why(result, spec)
        return f"--{self._name} {why}" if why else ""

    def _watch(self, supervised: Supervised) -> ProcessResult:
        asked = self._answered
        try:
            for _ in supervised.statuses(_LOOK_EVERY_S):
                if self._interrupts.count > asked:
                    asked = self._interrupts.count
                    supervised.end(INTERRUPTED)
        except KeyboardInterrupt:  # from where nobody has asked `interrupts` to take signals
            supervised.end(INTERRUPTED)
        result = supervised.wait()
        self.interrupted = result.ended_because == INTERRUPTED
        return result

    def _why(self, result: ProcessResult, spec: ProcessSpec) -> str:
        if self.interrupted:
            return "was interrupted"
        if result.failure:
            return f"could not be run: {result.failure}"
        if result.ended_because == "timeout":
            return f"ran longer than the limit of {spec.timeout_s:g} s"
        if result.unseen or result.ended_because or result.returncode is None:
            return f"was ended: {result.unseen or result.ended_because or 'its end could not be seen'}"
        if result.returncode == 0:
            return ""
        said = shorten(" ".join(last_words(spec.stderr) or last_words(spec.combined)), _LONGEST)
        code = result.returncode
        how = f"exited with code {code}" if code > 0 else f"was ended by signal {-code}"
        return f"{how}: {said}" if said else how


ALONE = "its service has ended"
"""Why a program is ended: not before its `grace_s` after the service's end, so that it can write what it measured."""
LOOK_EVERY_S = 0.25
"""Seconds within which a signal is answered. A run that goes well is heard of twice a second anyway."""


@dataclass
class Execution:
    """One run of a program: prepared, started, watched to its end."""

    run: Run
    run_id: str
    workspace: Workspace
    masker: Masker
    listen: Listener
    environment: Mapping[str, str]
    interrupts: Interrupts
    interpreters: Interpreters
    services: Services
    interpreter: str | None = None
    """The Python that its record names, if that is not the session's."""
    gpu_stats_interval_s: float = 1.0
    command: str = ""
    results: Path = field(default=Path())
    interrupted: bool = False
    profile: Path | None = None
    gpu: GpuSampler | None = None
    python: AskedInterpreter | None = None
    warnings: list[str] = field(default_factory=list)
    served: ServedRun | None = None
    """What the service of its entry did meanwhile; None where the entry has none."""
    cleanup_problem: str = ""
    """Why the cleanup after the run failed; empty where it did not."""
    _profiler: Profiler | None = None

    def execute(self) -> ProcessResult:
        """Runs the program. Whatever keeps it from starting is a result too, with its reason."""
        self.results = self.workspace.results
        with ExitStack() as cleaning:
            try:
                with _failing("its folders or files could not be made"):
                    self.workspace.clear()
                    self.workspace.create()
                    problem = self.run.entry.problem or "; ".join(missing_datasets(self.run.entry))
                    if problem:
                        raise AssayError(problem)
                    spec = self._prepare(cleaning)
            except AssayError as error:
                return ProcessResult(failure=str(error))
            entry, folder = self.run.entry, self.workspace.folder
            self.listen(RunStarted(self.run_id, entry.name, self.run.label, self.command, entry.timeout_s, folder))
            threshold = entry.gpu_mem_use_warning_threshold
            self.warnings += gpu_memory_warnings(threshold, "before")
            try:
                with self._service(), self._surround(spec):
                    with _failing("its process could not be started"):
                        supervised = Supervised(spec)
                    result = self._watch(supervised)
            except AssayError as error:
                return ProcessResult(failure=str(error))
            self.warnings += gpu_memory_warnings(threshold, "after")
        if self.gpu is not None and self.gpu.problem:
            self.warnings.append(f"gpustats.csv is not complete: {self.gpu.problem}")
        if self._profiler:
            self.profile = self._profiler.finish()
        return result

    @contextmanager
    def _service(self) -> Iterator[None]:
        """The service of the entry, ready; ended afterwards, unless it is kept. Raises AssayError."""
        served = self.served
        if served is None:
            yield
            return
        running = served.running
        try:
            try:
                if not running.runs:
                    running.start(lambda: self.interrupts.requested)
            except ServiceFailed as error:
                self.interrupted = self.interrupts.requested
                served.fail(str(error))
                raise AssayError(str(error)) from None
            served.begin()
            try:
                yield
            finally:
                served.finish()
        finally:
            self.warnings += self.services.release(running, self.run.entry, bool(served.problem))
        served.collect()
        self.warnings += served.warnings

    @contextmanager
    def _surround(self, spec: ProcessSpec) -> Iterator[None]:
        """Runs `--prepare` before and `--cleanup` after what is inside. Raises AssayError."""
        entry = self.run.entry
        if entry.prepare:
            before = UntimedCommand("prepare", entry.prepare, self.interrupts)
            problem = before.run(spec, self.workspace)
            self.interrupted = before.interrupted
            self.warnings += before.warnings
            if problem:
                raise AssayError(problem)
        try:
            yield
        finally:
            if entry.cleanup:
                after = UntimedCommand("cleanup", entry.cleanup, self.interrupts, self.interrupts.count)
                self.cleanup_problem = after.run(spec, self.workspace)
                self.warnings += after.warnings

    def _prepare(self, cleaning: ExitStack) -> ProcessSpec:
        entry, workspace = self.run.entry, self.workspace
        folders = workspace.placeholders()
        kept = self.services.keep_for(entry)
        if entry.service is not None:
            running = kept or self.services.prepare(entry, workspace, self.environment, self.run_id)
            self.served = ServedRun(running, workspace.service_usage, workspace.service_metrics)
            folders |= running.address.placeholders
        args = entry.arguments(folders)
        self.results = Path(results_path(args) or workspace.results)
        self.results.mkdir(parents=True, exist_ok=True)
        argv = [*entry.program, *args]
        self.command = shlex.join(self.masker.words(argv))
        if entry.profiler:
            self._profiler = Profiler(entry.profiler, workspace.artifacts)
            argv = self._profiler.wrap(argv)
        own = entry.environment(folders)
        self.python = self._ask({**self.environment, **own})
        cwd = entry.cwd or Path.cwd()
        cluster = self._cluster(cleaning)
        environment = self._environment(own, cluster)
        if self.gpu_stats_interval_s > 0 and machine.gpus():
            self.gpu = cleaning.enter_context(GpuSampler(workspace.gpu_stats, self.gpu_stats_interval_s))
        return ProcessSpec(
            argv=argv,
            env=environment,
            cwd=cwd,
            stdout=workspace.stdout,
            stderr=workspace.stderr,
            combined=workspace.combined,
            usage_csv=workspace.usage_csv,
            timeout_s=entry.timeout_s,
            grace_s=entry.grace_s,
            cpus=_processors(entry.limits.cpus),
            memory_mb=entry.limits.memory,
            namespace=cluster is not None and cluster.namespace,
            companion=cluster.companion(environment, cwd) if cluster else None,
            mask=self.masker.replacements,
            shapes=self.masker.shapes,
        )

    def _watch(self, supervised: Supervised) -> ProcessResult:
        """Watches the program until nothing of it is left. The first signal ends it with its grace, the next
        without."""
        asked = 0
        alone_since = 0.0
        try:
            for status in supervised.statuses(LOOK_EVERY_S):
                if status is not None:
                    self.listen(RunSampled(self.run_id, status.elapsed_s, status.cpu_s, status.rss_mb))
                if self.interrupts.count > asked:
                    asked = self.interrupts.count
                    supervised.end(INTERRUPTED)
                if self.served is not None and self.served.running.over:
                    alone_since = alone_since or time.monotonic()
                    if time.monotonic() >= alone_since + self.run.entry.grace_s and not asked:
                        asked = 1
                        supervised.end(ALONE)
        except KeyboardInterrupt:  # from where nobody has asked `interrupts` to take signals
            supervised.end(INTERRUPTED)
        result = supervised.wait()
        self.interrupted = result.ended_because == INTERRUPTED  # not if it was over before the signal reached it
        return result

    def _ask(self, environment: Mapping[str, str]) -> AskedInterpreter | None:
        """The program's Python and its packages. Where it does not answer, the run goes on with a warning, unless a Ray
        cluster must be started with it."""
        if self.interpreter is None:
            return None
        try:
            asked = self.interpreters.ask(self.interpreter, environment, self.run.entry.cwd or Path.cwd())
        except InterpreterUnknown as error:
            if self.run.entry.ray is not None and self.run.entry.ray.address is None:
                raise
            self.warnings.append(f"{error}; its packages are not recorded")
            return None
        self.workspace.keep_packages(asked.listing)
        return asked

    def _cluster(self, cleaning: ExitStack) -> RayCluster | None:
        config = self.run.entry.ray
        if config is None or config.address is not None:
            return None
        kept = None if self.run.entry.delete_scratch else self.workspace.make_ray_folder()
        cluster = RayCluster(config, self.workspace.logs, kept, self.python)
        cleaning.callback(cluster.close)
        return cluster

    def _environment(self, own: Mapping[str, str], cluster: RayCluster | None) -> dict[str, str]:
        entry = self.run.entry
        environment = {**self.environment, **own}
        environment["ASSAY_ENTRY"] = entry.name
        environment[SESSION] = os.path.realpath(self.workspace.session)
        environment["ASSAY_RUN_ID"] = self.run_id
        environment["ASSAY_BENCHMARK_RESULTS_PATH"] = str(self.results)
        environment["ASSAY_SCRATCH_DIR"] = str(self.workspace.scratch)
        if self.served is not None:
            environment.update(self.served.running.address.variables)
        if entry.gpus is not None:
            missing = [at for at in entry.gpus if at >= len(machine.gpus())]
            if missing:
                raise AssayError(f"asks for GPU {missing[0]}, but this machine has {len(machine.gpus())}")
            environment["CUDA_VISIBLE_DEVICES"] = ",".join(map(str, entry.gpus))
        if entry.ray is not None and entry.ray.address is not None:
            environment["RAY_ADDRESS"] = entry.ray.address
        if cluster is not None:
            environment.update(cluster.environment)
        return with_stand_ins(environment, self.workspace.stand_ins)


@contextmanager
def _failing(what: str) -> Iterator[None]:
    """An error of the operating system, in the words of a reason."""
    try:
        yield
    except OSError as error:
        where = f": {error.filename}" if error.filename is not None else ""
        raise AssayError(f"{what}: {error.strerror or error}{where}") from None


def _processors(count: int | None) -> list[int]:
    if count is None:
        return []
    return sorted(os.sched_getaffinity(0))[:count]
