"""Frames on the pipes between Assay and a supervisor: a token, a length, then a marshalled value.

marshal because both ends are the same interpreter, started by us, and it needs no import. A program of the same user
may find a way to write on these pipes: without the token, which only the two ends know, nothing is unmarshalled.
"""

import _signal  # type: ignore[import-not-found]  # `signal` makes enumerations of every constant: milliseconds of a run.
import marshal
import os
import time

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any


TOKEN_BYTES = 16
LARGEST = 1 << 26
"""Bytes of one value; an environment of this size could not be given to a program."""
_BLOCK = 1 << 16


def send(descriptor: int, token: bytes, value: "Any") -> None:
    """Where the pipe does not block, a frame that does not fit raises BlockingIOError and nothing of it is written,
    provided that it is shorter than PIPE_BUF (pipe(7))."""
    data = marshal.dumps(value)
    data = token + len(data).to_bytes(4, "big") + data
    while data:
        data = data[os.write(descriptor, data) :]


class Inbox:
    """The reading end of a pipe. Never waits: half a frame stays until the rest has come."""

    def __init__(self, descriptor: int, token: bytes) -> None:
        self._descriptor = descriptor
        self._token = token
        self._bytes = b""
        self.closed = False
        """The other end is closed and everything was taken."""
        self.forged = False
        """Something other than the two ends has written on the pipe: nothing that follows can be told apart."""
        os.set_blocking(descriptor, False)

    def take(self) -> "list[Any]":
        """What has come since."""
        try:
            data = os.read(self._descriptor, _BLOCK)
        except BlockingIOError:
            return []
        self.closed = not data
        self._bytes += data
        found = []
        start = len(self._token) + 4
        while len(self._bytes) >= start:
            size = int.from_bytes(self._bytes[start - 4 : start], "big")
            if not self._bytes.startswith(self._token) or size > LARGEST:
                self.forged = True
                break
            if len(self._bytes) < start + size:
                break
            found.append(marshal.loads(self._bytes[start : start + size]))
            self._bytes = self._bytes[start + size :]
        return found


# When the program's own process ended.
#
# It is noted by SIGCHLD's handler, which Python runs between two instructions: the moment is right whatever the
# supervisor was doing (sampling, copying output) when it came.


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
