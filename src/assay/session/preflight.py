from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from assay.config.entry import Entry
from assay.config.plan import Plan
from assay.process import gpus
from assay.session import machine
from assay.session.capture_environment import AskedInterpreter, ask_interpreter
from assay.session.machine_watch import Neighbours
from assay.session.ray_cluster import object_store_bytes
from assay.session.workspace import free_mb

_DECIDE = ("PATH", "PYTHONHOME", "PYTHONPATH", "PYTHONUSERBASE", "VIRTUAL_ENV")


class Interpreters:
    """The Pythons that entries of a session run with, each asked once what it is."""

    def __init__(self) -> None:
        self._asked: dict[tuple[str | None, ...], AskedInterpreter] = {}

    def ask(self, path: str, environment: Mapping[str, str], folder: Path) -> AskedInterpreter:
        key = (path, str(folder), *(environment.get(name) for name in _DECIDE))
        if key not in self._asked:
            self._asked[key] = ask_interpreter(path, environment, folder)
        return self._asked[key]


def preflight(plan: Plan, neighbours: Neighbours, session: str) -> list[str]:
    """What is worth knowing before anything runs. None of it stops the session."""
    warnings = [*plan.warnings]
    warnings += [_beside(other, session) for other in neighbours.others()]
    folder = _existing(plan.results_dir)
    free = free_mb(folder)
    if free < plan.reserve_disk_mb:
        warnings.append(f"only {free:.0f} MB are free below {folder}; runs may fail when it is full")
    warnings += gpu_warnings(plan)
    for entry in plan.entries:
        warnings += [f"{entry.name}: {warning}" for warning in resource_warnings(entry)]
    return warnings


def gpu_warnings(plan: Plan) -> Iterator[str]:
    """Warnings about what the files ask of GPUs, where there is none."""
    recorded = plan.gpu_stats_recorder is not None and plan.gpu_stats_recorder.interval_s > 0
    watched = any(entry.gpu_mem_use_warning_threshold is not None for entry in plan.entries)
    reason = gpus.absence() if recorded or watched else None
    if reason is None:
        return
    if recorded:
        yield f"gpu_stats_recorder: gpustats.csv is not written: {reason}"
    if watched:
        yield f"gpu_mem_use_warning_threshold: no GPU's memory is looked at: {reason}"


def _beside(other: str, session: str) -> str:
    if other.startswith(f"{session} (process "):
        return f"another job of this session is running on this machine: {other}"
    return f"another session is running on this machine: {other}"


def resource_warnings(entry: Entry) -> Iterator[str]:
    if entry.wanted_timeout_s is not None:
        yield f"timeout_s asks for {entry.wanted_timeout_s:g} s, max_timeout_s allows {entry.timeout_s:g}"
    ray = entry.ray
    if ray is not None and ray.address is None:
        if ray.num_cpus is not None and ray.num_cpus > machine.cores():
            yield f"ray.num_cpus asks for {ray.num_cpus}, this machine has {machine.cores()}: tasks will share them"
        if ray.num_gpus is not None and ray.num_gpus > len(machine.gpus()):
            yield f"ray.num_gpus asks for {ray.num_gpus}, this machine has {len(machine.gpus())}"
        asked = (object_store_bytes(ray) or 0) >> 20
        if asked > machine.memory_mb():
            yield f"ray.object_store_size asks for {asked} MB, this machine has {machine.memory_mb()}"
    if entry.limits.cpus is not None and entry.limits.cpus > machine.cores():
        yield f"limits.cpus asks for {entry.limits.cpus}, this machine has {machine.cores()}"
    if entry.gpus is not None and len(entry.gpus) > len(machine.gpus()):
        yield f"gpus asks for {len(entry.gpus)}, this machine has {len(machine.gpus())}: the entry will fail"


def missing_datasets(entry: Entry) -> list[str]:
    """Data sets that are not there, which keeps an entry from running. Local paths only: addresses are the program's
    task.

    A data setup may name what it is about to make.
    """
    if entry.is_setup:
        return []
    missing = [used for used in entry.datasets_used if "://" not in used.path and not _matches(used.path)]
    return [f"data set {used.name} does not exist: {used.path}" for used in dict.fromkeys(missing)]


def missing_interpreter(entry: Entry) -> list[str]:
    """The entry's interpreter, where it is not there; for `assay plan`. A run finds out by starting it."""
    if entry.interpreter is None or shutil.which(entry.interpreter, path=entry.env.get("PATH")):
        return []
    return [f"interpreter {entry.interpreter} does not exist, or is no program"]


def _matches(path: str) -> bool:
    if any(sign in path for sign in "*?["):
        return any(True for _ in Path("/").glob(str(Path(path).absolute()).lstrip("/")))
    return Path(path).exists()


def _existing(folder: Path) -> Path:
    return next(place for place in (folder, *folder.parents) if place.exists())
