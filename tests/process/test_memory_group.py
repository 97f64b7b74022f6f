"""Control groups of version 2, by a folder that behaves as one: the tests' machine may have version 1, or none."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from assay.process import limits
from assay.process.limits import MemoryGroup


@pytest.fixture
def mount(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder like /sys/fs/cgroup, with this process in the group `user`; new groups get the kernel's files."""
    own = tmp_path / "fs" / "user"
    own.mkdir(parents=True)
    (own / "cgroup.subtree_control").write_text("cpu memory pids\n")
    (own / "cgroup.procs").write_text("")
    (tmp_path / "cgroup").write_text("0::/user\n")
    make = os.mkdir

    def mkdir(path: str, mode: int = 0o777) -> None:
        make(path, mode)
        for name in ("memory.max", "memory.swap.max", "cgroup.procs"):
            Path(path, name).write_text("max\n")
        Path(path, "memory.events").write_text("low 0\nhigh 0\nmax 7\noom 1\noom_kill 0\n")

    monkeypatch.setattr(limits, "_MOUNT", str(tmp_path / "fs"))
    monkeypatch.setattr(limits, "_OWN", str(tmp_path / "cgroup"))
    monkeypatch.setattr(limits.os, "mkdir", mkdir)  # type: ignore[attr-defined]
    return own


def test_a_group_of_version_2_limits_memory_and_swap(mount: Path) -> None:
    group = MemoryGroup.make(100)
    assert group is not None
    [made] = mount.glob("assay-*")
    assert (made / "memory.max").read_text().startswith(str(100 << 20))
    assert (made / "memory.swap.max").read_text().startswith("0")
    group.enter()
    assert (made / "cgroup.procs").read_text().startswith("0")
    group.leave()
    assert (mount / "cgroup.procs").read_text() == "0"


def test_a_refusal_is_read_from_the_groups_events(mount: Path) -> None:
    group = MemoryGroup.make(100)
    assert group is not None
    assert not group.has_refused()
    [made] = mount.glob("assay-*")
    (made / "memory.events").write_text("low 0\nhigh 0\nmax 7\noom 1\noom_kill 2\n")
    assert group.has_refused()


def test_a_group_that_does_not_hand_memory_down_is_not_used(mount: Path) -> None:
    (mount / "cgroup.subtree_control").write_text("cpu pids\n")
    assert MemoryGroup.make(100) is None
    assert list(mount.glob("assay-*")) == []


@pytest.mark.parametrize("own", ["", "3:cpu,cpuacct:/x\n", "0::/elsewhere\n"])
def test_a_machine_without_such_groups_has_no_limit_by_the_kernel(mount: Path, own: str) -> None:
    Path(limits._OWN).write_text(own)
    assert MemoryGroup.make(100) is None
