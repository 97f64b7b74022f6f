"""A tree that stands still: all of it does, it goes on where it was, and it can be ended."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from assay.process.limits import move_tree, processors_problem
from assay.process.spawn import continue_tree, set_frozen, stop_tree
from assay.process.spec import ProcessSpec
from assay.process.supervisor_client import Supervised

FAMILY = """
import os, sys, time
from pathlib import Path
for entrance in sys.argv[1:]:
    Path(entrance).write_text("0")
name = "parent" if os.fork() else "child"
count = 0
while True:
    count += 1
    Path(name + ".partial").write_text(str(count))
    os.replace(name + ".partial", name)
    time.sleep(0.002)
"""
VERSIONS = {"version 2": ("unified", "cgroup.freeze"), "version 1": ("freezer", "freezer.state")}


def freezer_folder(kind: str) -> Path | None:
    """A group that can be frozen, where this machine has that version and permits it."""
    below, file = VERSIONS[kind]
    root = Path("/sys/fs/cgroup")
    root = root if kind == "version 2" and (root / "cgroup.controllers").exists() else root / below
    folder = root / f"assay-test-{os.getpid()}-{below}"
    with suppress(OSError):
        folder.mkdir()
        if (folder / file).exists():
            return folder
        folder.rmdir()
    return None


KINDS = ["signals", *(kind for kind in VERSIONS if (made := freezer_folder(kind)) and not made.rmdir())]


class Family:
    def __init__(self, folder: Path, kind: str) -> None:
        self.folder = folder
        self.group = None if kind == "signals" else freezer_folder(kind)
        self.file = self.group and self.group / VERSIONS[kind][1]
        entrances = [str(self.group / "cgroup.procs")] if self.group else []
        files = {name: folder / name for name in ("stdout", "stderr", "combined")}
        argv = [sys.executable, "-c", FAMILY, *entrances]
        spec = ProcessSpec(argv=argv, env=dict(os.environ), cwd=folder, grace_s=0.2, freezer=self.file, **files)
        self.supervised = Supervised(spec)

    def freeze(self, frozen: bool) -> None:
        if self.file:
            set_frozen(str(self.file), frozen)
        elif frozen:
            stop_tree(self.supervised.tree)
        else:
            continue_tree(self.supervised.tree)

    def counts(self) -> list[int]:
        return [int((self.folder / name).read_text()) for name in ("parent", "child")]

    def moves(self) -> bool:
        """Both of them, sooner or later."""
        before, deadline = self.counts(), time.monotonic() + 20
        while time.monotonic() < deadline:
            if all(now > then for now, then in zip(self.counts(), before, strict=True)):
                return True
            time.sleep(0.005)
        return False

    def stands(self) -> bool:
        """Both, for a hundred times as long as a step takes, once what was under way has ended."""
        time.sleep(0.1)
        before = self.counts()
        time.sleep(0.2)
        return self.counts() == before

    def close(self) -> None:
        self.supervised.end("over")
        self.supervised.wait()
        if self.group:
            for _ in range(100):
                with suppress(OSError):
                    self.group.rmdir()
                    break
                time.sleep(0.02)


@pytest.fixture(params=KINDS)
def family(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Family]:
    family = Family(tmp_path, request.param)
    deadline = time.monotonic() + 20
    while not ((tmp_path / "parent").exists() and (tmp_path / "child").exists()):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    yield family
    family.close()
    assert family.group is None or not family.group.exists()


def test_every_process_stands_still_and_goes_on_where_it_was(family: Family) -> None:
    assert family.moves()
    family.freeze(True)
    assert family.stands()
    stood = family.counts()
    family.freeze(False)
    assert family.moves()
    assert all(now >= then for now, then in zip(family.counts(), stood, strict=True))


def test_one_that_stands_still_can_be_ended(family: Family) -> None:
    family.freeze(True)
    assert family.stands()
    family.supervised.end("enough")
    ended = family.supervised.wait()
    assert ended.ended_because == "enough"
    # SIGTERM reached it: it was not left for SIGKILL.
    assert ended.returncode == -15
    assert ended.immortal == ()


def test_nothing_stands_still_for_ever_when_assay_dies(family: Family) -> None:
    family.freeze(True)
    assert family.stands()
    tree = family.supervised.tree
    tree.forget()
    pids = set(tree.walk())
    assert len(pids) == 2
    # As the kernel does for a process that dies: the pipe's end closes.
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, family.supervised._control)
    os.close(nowhere)
    for _ in family.supervised.statuses():
        pass
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)


def test_a_tree_is_moved_to_other_processors(tmp_path: Path) -> None:
    family = Family(tmp_path, "signals")
    core = min(os.sched_getaffinity(0))
    deadline = time.monotonic() + 20
    while not (tmp_path / "child").exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    tree = family.supervised.tree
    move_tree(tree, {core})
    tree.forget()
    places = [os.sched_getaffinity(pid) for pid in tree.walk()]
    family.close()
    assert places == [{core}, {core}]
    assert os.sched_getaffinity(0) != {core} or os.cpu_count() == 1


def test_processors_that_are_not_there_are_named() -> None:
    have = sorted(os.sched_getaffinity(0))
    assert processors_problem(have) == ""
    listed = ", ".join(map(str, have))
    assert processors_problem([have[0], 9999]) == f"this process may not use processor 9999; it may use {listed}"
