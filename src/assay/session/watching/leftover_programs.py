from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from assay.process.leftovers import GIVE_UP_S
from assay.process.mark import SESSION, find_started_for, read_start_environment


def end_leftover_programs(session: Path) -> None:
    """Ends what still runs of runs of this session, whose Assay was killed: it would write into their next execution.

    Not the delivery to sinks, which goes on until all is delivered: it belongs to no run.
    """
    until = time.monotonic() + GIVE_UP_S
    while time.monotonic() < until:
        pids = [
            pid
            for pid in find_started_for(SESSION, os.path.realpath(session))
            if b"ASSAY_RUN_ID" in read_start_environment(pid)
        ]
        pids = [pid for pid in pids if pid != os.getpid()]
        if not pids:
            return
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                continue
        time.sleep(0.02)
