"""The processors that a running tree may use."""

import os
from collections.abc import Collection

from assay.process.usage.tree import Tree


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
