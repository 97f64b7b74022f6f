"""One courier a sink at a time, what its library started included.

A library may start a process of its own that outlives a courier that is killed, and that has a group of its own, where
no signal to the courier's group reaches it: wandb-core is started so. If it still sent what it holds beside the next
courier, the same rows could arrive twice. What a process starts inherits its standard input, so the lock is that: an
flock belongs to the open file, and is held until the last process that inherited it has ended.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable
from pathlib import Path

from assay.untrusted.writing import open_existing

PATIENCE_S = 30.0
"""Seconds that a leftover is waited for. A sink may also have started something that never ends: then it is told all
the same."""
_LOOK_EVERY_S = 0.1


def take_courier_lock(path: Path, say: Callable[[str], None]) -> int:
    """A descriptor for standard input, which reads as empty; nobody else holds the file, or `say` was told so."""
    descriptor = open_existing(path, os.O_RDONLY, 0o600)
    until = time.monotonic() + PATIENCE_S
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > until:
                say(f"{path.stem}: what an earlier delivery started still runs after {PATIENCE_S:.0f} s; going on")
                return descriptor
            time.sleep(_LOOK_EVERY_S)
        else:
            return descriptor
