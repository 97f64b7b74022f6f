from __future__ import annotations

import shlex
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import IO, Any

from assay.errors import AssayError
from assay.names import unknown

_KEYS = ("command", "env", "ready_timeout_s")
_STOP_S = 10.0
_LAST_BYTES = 600


class StartedServer:
    """A server that a stage starts when it is set up, and ends with itself: its usage is part of the pipeline's.

    In the command, `{port}` is a free port of the loopback and `{python}` the Python that runs. No shell runs.
    """

    def __init__(self, command: str | Sequence[str], env: Mapping[str, Any], ready_timeout_s: float) -> None:
        self.command = shlex.split(command) if isinstance(command, str) else [str(word) for word in command]
        self.env = {name: str(value) for name, value in env.items()}
        self.ready_timeout_s = ready_timeout_s
        self._process: subprocess.Popen[bytes] | None = None
        self._log: IO[bytes] | None = None

    @classmethod
    def read(cls, written: Mapping[str, Any]) -> StartedServer:
        """Raises ValueError for what cannot be one."""
        for key in written:
            if key not in _KEYS:
                raise ValueError(f"server: {unknown('key', str(key), _KEYS)}")
        if not written.get("command"):
            raise ValueError("server: command is missing")
        limit = written.get("ready_timeout_s", 300.0)
        if isinstance(limit, bool) or not isinstance(limit, int | float) or limit <= 0:
            raise ValueError(f"server: ready_timeout_s must be above 0, not {limit!r}")
        return cls(written["command"], written.get("env") or {}, float(limit))

    def start(self, environment: Mapping[str, str]) -> str:
        """Its address, once it takes connections. Raises AssayError with the end of what it printed."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = int(free.getsockname()[1])
        argv = [word.replace("{port}", str(port)).replace("{python}", sys.executable) for word in self.command]
        self._log = tempfile.TemporaryFile()  # noqa: SIM115  closed in `end`
        try:
            self._process = subprocess.Popen(
                argv, stdin=subprocess.DEVNULL, stdout=self._log, stderr=self._log, env={**environment, **self.env}
            )
        except OSError as error:
            raise AssayError(f"the server could not be started: {error.strerror}: {argv[0]}") from None
        until = time.monotonic() + self.ready_timeout_s
        while not _takes_connections(port):
            code = self._process.poll()
            if code is not None:
                raise AssayError(f"the server ended with code {code} before it was ready: {self._last_words()}")
            if time.monotonic() > until:
                self.end()
                raise AssayError(f"the server took no connection within {self.ready_timeout_s:g} s")
            time.sleep(0.05)
        return f"http://127.0.0.1:{port}"

    def end(self) -> None:
        """Ends it. One that may not be signalled is left to Assay's supervisor, which names it."""
        if self._process is not None:
            with suppress(PermissionError):
                self._process.terminate()
            try:
                self._process.wait(_STOP_S)
            except subprocess.TimeoutExpired:
                with suppress(PermissionError):
                    self._process.kill()
                    self._process.wait()
        if self._log is not None:
            self._log.close()
        self._process = self._log = None

    def _last_words(self) -> str:
        assert self._log is not None
        self._log.seek(0, 2)
        self._log.seek(max(self._log.tell() - _LAST_BYTES, 0))
        return " ".join(self._log.read().decode("utf-8", "replace").split()) or "it printed nothing"


def _takes_connections(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), 1.0):
            return True
    except OSError:
        return False
