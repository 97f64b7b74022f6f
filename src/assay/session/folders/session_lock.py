"""One process at a time on a session folder: two would each run what the other runs."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager

from assay.errors import UsageError
from assay.record import SessionFolder
from assay.record.joined.jobs import Jobs
from assay.untrusted.writing import open_existing


@contextmanager
def only_one(folder: SessionFolder) -> Iterator[None]:
    """Raises `UsageError` where another process has it, or where nothing can be written there."""
    descriptor, process = _lock(folder), os.getpid()
    try:
        yield
    finally:
        if descriptor is not None:
            if os.getpid() == process:
                # A child that was forked meanwhile has the file open, too: closing it here would not let go.
                fcntl.flock(descriptor, fcntl.LOCK_UN)
            os.close(descriptor)


def is_running(folder: SessionFolder) -> bool:
    if Jobs(folder.path).running():
        return True
    try:
        with only_one(folder):
            return False
    except UsageError:
        return True


def _lock(folder: SessionFolder) -> int | None:
    if folder.lock is None:
        return None
    try:
        descriptor = open_existing(folder.lock)
    except OSError as error:
        raise UsageError(f"session {folder.path.name} cannot go on: {error.strerror}: {folder.lock}") from None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise UsageError(f"session {folder.path.name} is running in another process") from None
    except OSError as error:
        os.close(descriptor)
        raise UsageError(f"session {folder.path.name} cannot go on: {error.strerror}: {folder.lock}") from None
    return descriptor
