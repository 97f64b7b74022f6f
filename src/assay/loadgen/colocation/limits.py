"""CPU and memory limits of a pipeline by control groups, version 2 or 1 (cgroups(7))."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from time import sleep, time

from assay.errors import UsageError
from assay.loadgen.colocation.config import LimitsConfig

_PERIOD_US = 100_000
_ORPHAN_S = 60


def limits_problem() -> str:
    """Why this machine cannot enforce limits, or nothing."""
    for folder in _roots():
        if not os.access(folder, os.W_OK):
            return f"this machine does not permit it ({folder} cannot be written); run as root or leave `limits` out"
    return "" if _roots() else "this machine has no cpu and memory control groups; leave `limits` out"


class ControlGroup:
    """A group of its own for one pipeline, gone when it closes."""

    def __init__(self, name: str, limits: LimitsConfig) -> None:
        self._folders: list[Path] = []
        try:
            for root in _roots():
                # Version 2 hands controllers down only where it is told to; version 1 has no such file.
                if (root / "cgroup.subtree_control").exists():
                    (root / "cgroup.subtree_control").write_text("+cpu +memory")
                _remove_orphans(root)
                folder = root / f"assay-{os.getpid()}-{name}"
                folder.mkdir()
                self._folders.append(folder)
            self._set(limits)
        except OSError as error:
            self.close()
            raise UsageError(f"limits of a pipeline cannot be set: {error}; leave `limits` out") from None

    @property
    def entrances(self) -> list[str]:
        """A process that writes 0 to these is inside, and so is all that it starts."""
        return [str(folder / "cgroup.procs") for folder in self._folders]

    def _set(self, limits: LimitsConfig) -> None:
        if limits.cpus is not None:
            quota = int(limits.cpus * _PERIOD_US)
            self._write("cpu.max", f"{quota} {_PERIOD_US}", "cpu.cfs_quota_us", str(quota))
        if limits.memory_mb is not None:
            size = str(limits.memory_mb * 1_000_000)
            self._write("memory.max", size, "memory.limit_in_bytes", size)

    def _write(self, new: str, new_value: str, old: str, old_value: str) -> None:
        for folder in self._folders:
            for name, value in ((new, new_value), (old, old_value)):
                if (folder / name).exists():
                    (folder / name).write_text(value)
                    return
        raise FileNotFoundError(f"no {new} and no {old} under {self._folders[0].parent}")

    def close(self) -> None:
        for folder in self._folders:
            # The last process may need a moment to leave after its end was seen.
            for _ in range(50):
                with suppress(OSError):
                    folder.rmdir()
                if not folder.exists():
                    break
                sleep(0.02)


def _remove_orphans(root: Path) -> None:
    """Groups of runs that were killed. One with a process in it, or just made, stays."""
    for folder in root.glob("assay-*"):
        with suppress(OSError):
            if time() - folder.stat().st_mtime > _ORPHAN_S:
                folder.rmdir()


def _roots() -> list[Path]:
    new = Path("/sys/fs/cgroup/cgroup.controllers")
    if new.exists():
        return [new.parent] if {"cpu", "memory"} <= set(new.read_text().split()) else []
    old = [Path("/sys/fs/cgroup/cpu"), Path("/sys/fs/cgroup/memory")]
    return old if all(folder.is_dir() for folder in old) else []
