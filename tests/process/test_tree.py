from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from assay.process import tree
from assay.process.tree import Tree

PROGRAM = """
import subprocess, sys, threading
children = [subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)]
other = threading.Thread(target=lambda: (children.append(
    subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)), told.wait()))
told = threading.Event()
other.start()
while len(children) < 2:
    pass
print(*[child.pid for child in children], flush=True)
sys.stdin.readline()
children[0].stdin.close()
children[0].wait()
print("one", flush=True)
sys.stdin.read()
told.set()
"""


@contextmanager
def family() -> Iterator[tuple[subprocess.Popen[str], list[int]]]:
    """A program with a child of each of its two threads."""
    command = [sys.executable, "-c", PROGRAM]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        yield program, [int(word) for word in program.stdout.readline().split()]


@pytest.mark.parametrize("listed", [True, False], ids=["children listed", "kernel without lists"])
def test_a_look_finds_what_a_walk_finds_and_forgets_what_is_over(listed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not listed:
        monkeypatch.setattr(tree, "_children", lambda pid: None)
    with family() as (program, (first, second)):
        assert program.stdin is not None
        assert program.stdout is not None
        looked = Tree(os.getpid())
        mine = {program.pid, first, second}
        assert looked.look() >= mine
        assert looked.look() == Tree(os.getpid()).walk()
        program.stdin.write("\n")
        program.stdin.flush()
        assert program.stdout.readline() == "one\n"
        assert looked.look() & mine == {program.pid, second}
        program.stdin.close()
    assert not looked.look() & {program.pid, first}
