"""CPU and memory limits of a pipeline, and its freezer, by control groups, version 2 or 1 (cgroups(7))."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from time import sleep, time
from typing import TYPE_CHECKING

import assay
from assay.errors import UsageError
from assay.loadgen.colocation.colocation_config import LimitsConfig, PipelineConfig
from assay.loadgen.colocation.devices import SHARE
from assay.process.tree import Tree

if TYPE_CHECKING:
    from assay.loadgen.colocation.devices import PipelineDevice


def pipeline_environment(config: PipelineConfig, device: PipelineDevice) -> dict[str, str]:
    """Environment of a pipeline's process: Assay's own, the device it was given, then what its `env` says."""
    # PYTHONPATH: the user's own first, then Assay's package, then all folders that this process imports from.
    given = [entry for entry in config.env.get("PYTHONPATH", "").split(os.pathsep) if entry]
    path = [*given, str(Path(assay.__file__).parent.parent), *(entry for entry in sys.path if entry)]
    share = {} if config.mps_share is None else {SHARE: str(config.mps_share)}
    return {
        **os.environ,
        **device.environment,
        **share,
        **config.env,
        "PYTHONPATH": os.pathsep.join(dict.fromkeys(path)),
    }


_PERIOD_US = 100_000
_ORPHAN_S = 60
_USUAL_WEIGHT, _USUAL_SHARES = 100, 1024
"""The same share of the processors, as version 2 and version 1 write it."""
_MOUNT = Path("/sys/fs/cgroup")
_FREEZE = "cgroup.freeze"


def limits_problem() -> str:
    """Why this machine cannot enforce limits, or nothing."""
    for folder in _limit_roots():
        if not os.access(folder, os.W_OK):
            return f"this machine does not permit it to who is not root ({folder} cannot be written)"
    return "" if _limit_roots() else "this machine has no cpu and memory control groups"


class ControlGroup:
    """Groups of its own for one pipeline, gone when it closes: for its freezer from the start, for limits once it has
    any, so that a pipeline without them is scheduled as any program is."""

    def __init__(self, name: str, limits: LimitsConfig | None, freezable: bool) -> None:
        self._name = f"assay-{os.getpid()}-{name}"
        self._folders: list[Path] = []
        self.freezer: Path | None = None
        """File that freezes all of it; None where there is no such group, and signals have to do."""
        if freezable:
            with suppress(OSError):
                self.freezer = self._freezer()
        try:
            if limits is not None:
                self._make(_limit_roots())
                self._set(limits)
        except OSError as error:
            self.close()
            raise UsageError(f"limits of a pipeline cannot be set: {error}; leave `limits` out") from None

    @property
    def entrances(self) -> list[str]:
        """Files of the groups: a process that writes 0 to them is inside, and so is all that it starts."""
        return [str(folder / "cgroup.procs") for folder in self._folders]

    def resize(self, limits: LimitsConfig, tree: Tree) -> None:
        """New limits for a pipeline that runs. Raises OSError where the kernel refuses."""
        self._make(_limit_roots())
        inside: set[int] = set()
        while True:
            tree.forget()
            new = tree.walk() - inside
            if not new:
                break
            for pid in new:
                with suppress(ProcessLookupError):
                    for entrance in self.entrances:
                        Path(entrance).write_text(str(pid))
            inside |= new
        self._set(limits)

    def _freezer(self) -> Path | None:
        for root, file in _freezer_roots():
            if os.access(root, os.W_OK):
                self._make([root], controllers=False)
                if (root / self._name / file).exists():
                    return root / self._name / file
        return None

    def _make(self, roots: list[Path], controllers: bool = True) -> None:
        for root in roots:
            # Version 2 hands controllers down only where it is told to; version 1 has no such file.
            if controllers and (root / "cgroup.subtree_control").exists():
                (root / "cgroup.subtree_control").write_text("+cpu +memory")
            folder = root / self._name
            if folder not in self._folders:
                _remove_orphans(root)
                folder.mkdir()
                self._folders.append(folder)
            if self.freezer is not None and (folder / _FREEZE).exists():
                # In version 2 a process is in one group only: it is frozen by the one it entered last.
                self.freezer = folder / _FREEZE

    def _set(self, limits: LimitsConfig) -> None:
        if limits.cpus is not None:
            quota = int(limits.cpus * _PERIOD_US)
            self._write("cpu.max", f"{quota} {_PERIOD_US}", "cpu.cfs_quota_us", str(quota))
        if limits.cpu_weight is not None:
            shares = max(limits.cpu_weight * _USUAL_SHARES // _USUAL_WEIGHT, 2)
            self._write("cpu.weight", str(limits.cpu_weight), "cpu.shares", str(shares))
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


def _limit_roots() -> list[Path]:
    new = _MOUNT / "cgroup.controllers"
    if new.exists():
        return [new.parent] if {"cpu", "memory"} <= set(new.read_text().split()) else []
    old = [_MOUNT / "cpu", _MOUNT / "memory"]
    return old if all(folder.is_dir() for folder in old) else []


def _freezer_roots() -> list[tuple[Path, str]]:
    """Folders for freezers, best first: what version 2 has frozen can be killed, what version 1 has cannot. They lie
    below our own group, so that the processors are shared as before."""
    new = [root for root in (_MOUNT, _MOUNT / "unified") if (root / "cgroup.controllers").exists()]
    return [*((root / _own_group(), _FREEZE) for root in new), (_MOUNT / "freezer", "freezer.state")]


def _own_group() -> str:
    """This process's group of version 2, as a path below the mount."""
    lines = Path("/proc/self/cgroup").read_text().splitlines()
    return next((line.removeprefix("0::").strip("/") for line in lines if line.startswith("0::")), "")
