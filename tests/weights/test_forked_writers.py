"""A process that forks while a lock is held, as `multiprocessing` and many libraries do in another thread."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from assay.record import SessionFolder
from assay.session.workspace import only_one
from assay.weights.repository import Repository
from assay.weights.repository_disk import WriterLock


def forked(act: Callable[[], object]) -> int:
    """A child that ends without a word of Python's own clean-up, 0 if `act` came to its end."""
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        try:
            act()
            os._exit(0)
        finally:
            os._exit(1)
    return child


def code(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_a_child_that_lives_on_does_not_keep_the_lock(tmp_path: Path) -> None:
    lock = WriterLock(tmp_path / "lock")
    with lock:
        child = forked(lambda: time.sleep(15))
    try:
        with WriterLock(tmp_path / "lock", patience_s=1):
            pass
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def test_a_child_that_leaves_the_block_takes_nothing_from_its_parent(tmp_path: Path) -> None:
    lock = WriterLock(tmp_path / "lock")
    with lock:
        child = forked(lambda: lock.__exit__(None, None, None))
        assert code(child) == 0
        taken = forked(lambda: WriterLock(tmp_path / "lock", patience_s=0.1).__enter__())
        assert code(taken) == 1


def test_a_child_forked_while_another_thread_writes_can_write_itself(tmp_path: Path) -> None:
    repository = Repository.init(tmp_path / "repo")
    lock, held, free = WriterLock(tmp_path / "lock"), threading.Event(), threading.Event()

    def hold() -> None:
        with lock:
            held.set()
            free.wait(30)

    holder = threading.Thread(target=hold)
    holder.start()
    held.wait(30)
    child = forked(lock.__enter__)
    time.sleep(0.3)
    free.set()
    holder.join()
    assert code(child) == 0
    repository.commit({"a": np.ones(3, np.float32)})
    assert code(forked(lambda: repository.commit({"a": np.zeros(3, np.float32)}))) == 0
    assert Repository.open(tmp_path / "repo").verify().problems == ()


def test_a_session_that_has_ended_is_free_though_a_child_lives_on(tmp_path: Path) -> None:
    folder = SessionFolder(tmp_path / "night")
    folder.path.mkdir()
    with only_one(folder):
        child = forked(lambda: time.sleep(15))
    try:
        with only_one(folder):
            pass
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
