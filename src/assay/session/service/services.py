from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from assay.config.entry import Entry
from assay.config.service import Service
from assay.errors import AssayError
from assay.process.leftovers import SESSION
from assay.process.spec import GpuWatchSpec, ProcessResult, ProcessSpec, Unended, unended_warnings
from assay.process.supervisor_client import Supervised
from assay.process.tree import tree_cpu_s
from assay.record.secrets import Masker
from assay.session import machine
from assay.session.events import Interrupts
from assay.session.results.judge import last_words
from assay.session.service.readiness import ReadyCheck, ServiceAddress, ServiceUsage, answers, find_address
from assay.session.service.scraped_metrics import Scraper, summarise_readings
from assay.session.workspace import Workspace

STOPPED = "stopped"
_LOOK_EVERY_S = 0.1
_LINES_OF_LOG = 3


class ServiceFailed(Exception):
    """Says why a service could not be used, in the words of a reason."""


class RunningService:
    """One start of a service, under a supervisor process of its own: it ends with Assay, whatever happens.

    `Supervised` is used by one thread only, which also carries out what the others ask for.
    """

    def __init__(self, service: Service, address: ServiceAddress, spec: ProcessSpec) -> None:
        """`service`: with every placeholder filled in."""
        self.service = service
        self.address = address
        self.log = Path(spec.combined)
        self.samples = spec.usage_csv or Path()
        self._spec = spec
        self._check = ReadyCheck(service, address, self.log, spec.env, spec.cwd)
        self._wanted = 0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._result: ProcessResult | None = None
        self._asked_at = self._ready_at = 0.0
        self._spawned = float("inf")
        self.ended_at = 0.0
        self.runs = 0
        """Programs that it has served."""

    def start(self, abandoned: Callable[[], bool]) -> None:
        """Starts it and waits until it is ready. Raises ServiceFailed; what was started is then still to be ended."""
        host, port = self.address.endpoint
        if port is not None and "://" in self.address.url and answers(host, port):
            raise ServiceFailed(
                f"the service was not started: something else takes connections at {host}:{port}, and would be "
                "measured in its place; end it, or give the service a free port with {port}"
            )
        self._asked_at = time.monotonic()
        try:
            self._supervised = Supervised(self._spec)
        except OSError as error:
            raise ServiceFailed(f"the service could not be started: {error.strerror or error}") from None
        self._thread.start()
        limit = self._asked_at + self.service.ready_timeout_s
        wait_s = 0.01
        while not self._check_passes():
            if self.over:
                raise ServiceFailed(self._early_end())
            if abandoned():
                raise ServiceFailed("interrupted by the user before the service was ready")
            if time.monotonic() >= limit:
                why = f"the service was not ready after {self.service.ready_timeout_s:g} s: {self._check.why_not}"
                raise ServiceFailed(why)
            self._over.wait(wait_s)
            wait_s = min(wait_s * 1.5, 0.25)
        self._ready_at = time.monotonic()

    @property
    def begun(self) -> float:
        """Moment (monotonic clock, seconds) at which its process was started: what its supervisor has told since."""
        return self._spawned if self._spawned < float("inf") else self._asked_at

    @property
    def ready_s(self) -> float:
        """Seconds from its start until it could be used."""
        return max(self._ready_at - self.begun, 0.0)

    @property
    def over(self) -> bool:
        return self._over.is_set()

    def cpu_s(self) -> float:
        """CPU seconds of all its processes so far, those that have ended among them."""
        if self.over:
            return float((self._result or ProcessResult()).usage.get("cpu_s", 0.0))
        return tree_cpu_s(self._supervised.tree.root)

    def how_it_ended(self) -> str:
        result = self._result or ProcessResult(unseen="its end could not be seen")
        if result.failure:
            return f"could not be started: {result.failure}"
        if result.ended_because == "memory":
            return f"used more memory than its limit of {self.service.limits.memory:g} MB and was ended"
        code = result.returncode
        if result.unseen or code is None:
            return f"was lost: {result.unseen or 'its end could not be seen'}"
        if code < 0:
            return f"was ended by signal {_signal_name(-code)}"
        return f"ended with code {code}"

    def last_lines(self) -> list[str]:
        return [f"{self.log.name}: {line}" for line in last_words(self.log, lines=_LINES_OF_LOG)]

    def end(self, hurried: Callable[[], bool] = lambda: False) -> list[str]:
        """Ends all of it: SIGTERM, after `stop_timeout_s` or when `hurried` says so SIGKILL. Warnings about it."""
        ended_before = self.over
        self._wanted += 1
        while self._thread.is_alive():
            if self._wanted == 1 and hurried():
                self._wanted += 1
            self._thread.join(_LOOK_EVERY_S)
        result = self._result
        if result is None:
            return []
        warnings = []
        if not ended_before and result.returncode == -signal.SIGKILL and self.service.stop_timeout_s:
            warnings.append(
                f"the service did not end within {self.service.stop_timeout_s:g} s of SIGTERM: it was killed"
            )
        return [*warnings, *unended_warnings(self.unended, " of the service")]

    @property
    def unended(self) -> tuple[Unended, ...]:
        """What of it could not be ended."""
        return () if self._result is None else self._result.immortal

    def _check_passes(self) -> bool:
        """Whether the service is ready. That it still runs is checked first: what answers after its end is not the
        service."""
        return not self.over and self._check.passes() and not self.over

    def _early_end(self) -> str:
        how = self.how_it_ended()
        return f"the service {how}" if "could not be started" in how else f"the service {how} before it was ready"

    def _watch(self) -> None:
        told = 0
        try:
            for status in self._supervised.statuses(_LOOK_EVERY_S):
                if status is not None:
                    self._spawned = min(self._spawned, time.monotonic() - status.elapsed_s)
                while told < self._wanted:
                    told += 1
                    self._supervised.end(STOPPED)
            self._result = self._supervised.result
        finally:
            self.ended_at = time.monotonic()
            self._over.set()


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)


class Services:
    """The service of the entry that runs. At most one is there at a time, so that none disturbs another entry.

    With `restart: never` it stays between runs of its entry that follow each other and pass.
    """

    def __init__(self, masker: Masker, interrupts: Interrupts) -> None:
        self._masker = masker
        self._interrupts = interrupts
        self._kept: RunningService | None = None
        self._entry = ""
        self.warnings: list[str] = []
        """Processes that services which outlived their last run have left: no record can name them any more."""

    def keep_for(self, entry: Entry) -> RunningService | None:
        """The one that still runs from an earlier run of this entry; any other is ended, and waited for."""
        if self._kept is not None and (self._entry != entry.name or self._kept.over):
            self.end()
        return self._kept

    def prepare(self, entry: Entry, workspace: Workspace, variables: Mapping[str, str], run_id: str) -> RunningService:
        """The entry's service, not started yet; its address is known. Raises AssayError."""
        assert entry.service is not None
        address = find_address(entry.service, workspace.placeholders())
        service = entry.service.at({**workspace.placeholders(), **address.placeholders})
        cwd = Path(service.cwd) if service.cwd is not None else entry.cwd or Path.cwd()
        if not cwd.is_dir():
            raise AssayError(f"the service was not started: its cwd {cwd} is no folder")
        spec = ProcessSpec(
            argv=list(service.command),
            env=_environment(service, entry, workspace, variables, run_id),
            cwd=cwd,
            stdout=Path(os.devnull),
            stderr=Path(os.devnull),
            combined=workspace.service_log,
            usage_csv=workspace.service_samples,
            grace_s=service.stop_timeout_s,
            cpus=_processors(service.limits.cpus),
            memory_mb=service.limits.memory,
            gpus=_gpu_watch(service),
            mask=self._masker.replacements,
            shapes=self._masker.shapes,
        )
        return RunningService(service, address, spec)

    def release(self, running: RunningService, entry: Entry, failed: bool) -> list[str]:
        """After a run: ends it, or keeps it for the next. Warnings about its end."""
        if running.service.restart == "never" and not failed:
            self._kept, self._entry = running, entry.name
            return []
        self._kept = None
        return running.end(self._make_hurry())

    def end(self) -> None:
        if self._kept is not None:
            self._kept.end(self._make_hurry())
            self.warnings += unended_warnings(self._kept.unended, f" of the service of {self._entry}")
        self._kept = None

    def _make_hurry(self) -> _Hurry:
        return _Hurry(self._interrupts)


class _Hurry:
    """Whether another signal has come since it was made."""

    def __init__(self, interrupts: Interrupts) -> None:
        self._interrupts = interrupts
        self._count = interrupts.count

    def __call__(self) -> bool:
        return self._interrupts.count > max(self._count, 1)


def _environment(
    service: Service, entry: Entry, workspace: Workspace, variables: Mapping[str, str], run_id: str
) -> dict[str, str]:
    """Environment of the service. A Python server's output is not buffered: a line may be what shows that it is
    ready."""
    environment = {"PYTHONUNBUFFERED": "1", **variables, **service.env}
    environment["ASSAY_ENTRY"] = entry.name
    environment["ASSAY_RUN_ID"] = run_id
    environment[SESSION] = os.path.realpath(workspace.session)
    if service.gpus is not None:
        missing = [at for at in service.gpus if at >= len(machine.gpus())]
        if missing:
            raise AssayError(f"the service asks for GPU {missing[0]}, but this machine has {len(machine.gpus())}")
        environment["CUDA_VISIBLE_DEVICES"] = ",".join(map(str, service.gpus))
    return environment


def _gpu_watch(service: Service) -> GpuWatchSpec | None:
    names = service.gpus if service.gpus is not None else tuple(range(len(machine.gpus())))
    return GpuWatchSpec.find(tuple(map(str, names)), service.gpus is not None)


def _processors(count: int | None) -> list[int]:
    """The last `count` processors: a program with a limit has the first, so the two are apart where there are
    enough."""
    return [] if count is None else sorted(os.sched_getaffinity(0))[-count:]


class ServedRun:
    """One program's run beside a service: what the service did meanwhile, and whether it lived through it."""

    def __init__(self, running: RunningService, usage_csv: Path, metrics_file: Path) -> None:
        self.running = running
        self.usage_csv, self.metrics_file = usage_csv, metrics_file
        self.problem = ""
        """Why the service made the run fail, in the words of a reason; empty where it did not."""
        self.lines: list[str] = []
        """The last ones of its log, where there is a problem."""
        self.warnings: list[str] = []
        self.metrics: dict[str, Any] = {}
        self._scraper: Scraper | None = None
        self._stack = ExitStack()
        self._begun = self._ended = self._cpu_s = self._cpu_at_begin = 0.0

    def fail(self, why: str) -> None:
        self.problem = why
        self.lines = self.running.last_lines()

    def begin(self) -> None:
        """Right before the program is started."""
        service = self.running.service
        if service.metrics is not None:
            url = self.running.address.join(service.metrics.path)
            self._scraper = Scraper(url, service.metrics.interval_s, self.metrics_file)
            self._stack.enter_context(self._scraper)
        self._cpu_at_begin = self.running.cpu_s()
        self._begun = time.monotonic()

    def finish(self) -> None:
        """Right after the program's end."""
        self._ended = time.monotonic()
        self._cpu_s = self.running.cpu_s() - self._cpu_at_begin
        self._stack.close()
        if self.running.over:
            ran_s = max(self.running.ended_at - self._begun, 0.0)
            how = self.running.how_it_ended()
            self.fail(f"the service {how} while the program ran, {ran_s:.1f} s after the program's start")
        self.running.runs += 1

    def collect(self) -> None:
        """After the service was ended, or while it is kept; then rows of the last half second may be missing."""
        running = self.running
        begin, end = self._begun - running.begun, self._ended - running.begun
        usage = ServiceUsage(running.samples, begin, end)
        try:
            usage.write(self.usage_csv)
        except OSError as error:
            self.warnings.append(f"{self.usage_csv.name} could not be written: {error.strerror}")
        self.metrics = {
            "service_ready_s": {"value": running.ready_s, "unit": "s", "better": "lower"},
            **usage.metrics(max(self._cpu_s, 0.0)),
        }
        if self._scraper is not None and running.service.metrics is not None:
            self.metrics |= summarise_readings(self._scraper.readings, running.service.metrics.names)
            self.warnings += _scraping_warnings(self._scraper, bool(self.problem))


def _scraping_warnings(scraper: Scraper, died: bool) -> list[str]:
    """Warnings about missing readings; none for a service that has died, since that is said already."""
    if scraper.failed and not (died and scraper.failed < scraper.count):
        times = f"{scraper.failed} of {scraper.count} times"
        return [f"the metrics page of the service could not be read {times}: {scraper.problem}"]
    if scraper.problem and not died:
        return [f"the metrics of the service are not complete: {scraper.problem}"]
    if not scraper.readings and not died:
        return ["the metrics page of the service holds no metric"]
    return []
