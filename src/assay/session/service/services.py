from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from assay.capture import machine
from assay.config.entries.entry import Entry
from assay.config.service.service import Service
from assay.errors import AssayError
from assay.process.gpus.gpu_watch_spec import GpuWatchSpec
from assay.process.mark import SESSION
from assay.process.result import unended_warnings
from assay.process.spec import ProcessSpec
from assay.record.secrecy.secrets import Masker
from assay.session.folders.workspace import Workspace
from assay.session.interrupts import Interrupts
from assay.session.service.address import find_address
from assay.session.service.running_service import RunningService


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
