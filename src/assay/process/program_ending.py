"""When the program's own process ended.

It is noted by SIGCHLD's handler, which Python runs between two instructions: the moment is right whatever the
supervisor was doing (sampling, copying output) when it came.
"""

import _signal  # type: ignore[import-not-found]  # `signal` makes enumerations of every constant: milliseconds of a run.
import os
import time


class ProgramEnding:
    def __init__(self) -> None:
        self.at = 0.0
        """Moment of the end on the monotonic clock; 0 before the start and while it runs."""
        self._pid = 0
        _signal.signal(_signal.SIGCHLD, self._note)

    def watch(self, pid: int) -> None:
        self._pid = pid
        self._note()  # It may be over already.

    def _note(self, *_: object) -> None:
        if not self._pid or self.at:
            return
        now = time.monotonic()
        try:
            over = os.waitid(os.P_PID, self._pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return
        if over:
            self.at = now
