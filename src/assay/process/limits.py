"""A memory limit that the kernel keeps: a control group (cgroups(7)) of the run's own, where the machine permits one.

Samples see a tree ten times a second; what is taken and used between two of them only the kernel can refuse. The
supervisor steps into the group, starts the program, which is born there with all that it starts, and steps out again.
"""

import os
from collections.abc import Collection

from assay.process.tree import Tree

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Self


_MOUNT = "/sys/fs/cgroup"
_OWN = "/proc/self/cgroup"


class MemoryGroup:
    def __init__(self, parent: str, megabytes: float) -> None:
        """`parent`: folder of the group that this process is in. Raises OSError where no group can be made."""
        self._parent = parent
        self._folder = f"{parent}/assay-{os.getpid()}"
        size = str(int(megabytes * 2**20))
        self.close()  # Removes that of a killed supervisor that had our process number.
        os.mkdir(self._folder)
        try:
            newer = os.path.exists(f"{self._folder}/memory.max")
            _write(f"{self._folder}/{'memory.max' if newer else 'memory.limit_in_bytes'}", size)
        except OSError:
            self.close()
            raise
        try:  # Without it memory goes to the swap instead; not every kernel counts that.
            _write(*((f"{self._folder}/memory.swap.max", "0") if newer else (f"{self._folder}/{_BOTH}", size)))
        except OSError:
            pass

    @classmethod
    def make(cls, megabytes: float) -> "Self | None":
        """None where this machine has no such groups, or does not permit them."""
        try:
            return cls(_own_folder(), megabytes)
        except (OSError, LookupError):
            return None

    def enter(self) -> None:
        _write(f"{self._folder}/cgroup.procs", "0")

    def leave(self) -> None:
        _write(f"{self._parent}/cgroup.procs", "0")

    def has_refused(self) -> bool:
        """Whether the kernel has ended a process because there was no more memory in the group."""
        for name in ("memory.events", "memory.oom_control"):
            try:
                with open(f"{self._folder}/{name}", "rb") as file:
                    told = dict(line.split() for line in file)
            except (OSError, ValueError):
                continue
            return int(told.get(b"oom_kill", b"0")) > 0
        return False

    def close(self) -> None:
        try:
            os.rmdir(self._folder)
        except OSError:
            pass  # It is not there, or something that cannot be ended is still in it.


_BOTH = "memory.memsw.limit_in_bytes"


def _own_folder() -> str:
    """Folder of this process's control group: version 1, or version 2 where the group hands memory down.
    LookupError where there is neither."""
    with open(_OWN, encoding="utf-8") as file:
        groups = [line.rstrip("\n").split(":", 2) for line in file]
    for _, controllers, path in groups:
        if "memory" in controllers.split(","):
            return f"{_MOUNT}/memory{path}".rstrip("/")
    paths = [path for _, controllers, path in groups if not controllers]
    if not paths:
        raise LookupError("there is no group of version 2, and none of version 1 for memory")
    folder = f"{_MOUNT}{paths[0]}".rstrip("/")
    with open(f"{folder}/cgroup.subtree_control", encoding="utf-8") as file:
        if "memory" not in file.read().split():
            raise LookupError("memory is not handed down")
    return folder


def _write(path: str, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)


# The processors that a running tree may use.


def processors_problem(cpus: Collection[int]) -> str:
    """Why a program started from here cannot be given these processors, or nothing."""
    have = os.sched_getaffinity(0)
    missing = sorted(set(cpus) - have)
    if not missing:
        return ""
    return f"this process may not use processor {_join(missing)}; it may use {_join(sorted(have))}"


def move_tree(tree: Tree, cpus: Collection[int]) -> None:
    """Moves every thread of every process, until a walk finds no new one: a process inherits its parent's
    processors."""
    moved: set[int] = set()
    while True:
        tree.forget()
        new = {thread for pid in tree.walk() for thread in _threads(pid)} - moved
        if not new:
            return
        for thread in new:
            try:
                os.sched_setaffinity(thread, cpus)
            except ProcessLookupError:
                continue
        moved |= new


def _threads(pid: int) -> list[int]:
    try:
        return [int(name) for name in os.listdir(f"/proc/{pid}/task")]
    except OSError:
        return []


def _join(cpus: Collection[int]) -> str:
    return ", ".join(map(str, cpus))
