from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from assay.process.mark import SESSION, find_started_for, read_start_environment
from assay.process.unended import GIVE_UP_S


def end_leftover_programs(session: Path) -> None:
    """Ends what still runs of runs of this session, whose Assay was killed: it would write into their next execution.

    Not the delivery to sinks, which goes on until all is delivered: it belongs to no run. Processes that Assay may not
    signal stay, and are not waited for.
    """
    until = time.monotonic() + GIVE_UP_S
    while time.monotonic() < until:
        pids = [
            pid
            for pid in find_started_for(SESSION, os.path.realpath(session))
            if b"ASSAY_RUN_ID" in read_start_environment(pid)
        ]
        pids = [pid for pid in pids if pid != os.getpid()]
        refused = [pid for pid in pids if not _may_kill(pid)]
        if len(refused) == len(pids):
            return
        time.sleep(0.02)


def _may_kill(pid: int) -> bool:
    """Sends SIGKILL; returns whether that is permitted."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass  # It has ended meanwhile.
    except PermissionError:
        return False
    return True
