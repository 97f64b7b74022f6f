from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import assay
from assay.errors import UsageError
from assay.process.message import receive, send
from assay.process.result import ProcessResult
from assay.process.spec import ProcessSpec
from assay.process.tree import Tree

_SOURCE = str(Path(assay.__file__).parent.parent)
_START = f"import sys; sys.path.append({_SOURCE!r}); from assay.process.supervisor import main; main()"
_NAMESPACE = ["unshare", "--net", "--pid", "--fork", "--mount-proc", "--kill-child", "--"]
_LOOPBACK_UP = ["sh", "-c", 'ip link set lo up && exec "$@"', "sh"]


@dataclass(frozen=True)
class Status:
    """Of a running process, twice a second."""

    elapsed_s: float
    cpu_s: float
    rss_mb: float
    gpu_pct: float | None = None
    """Of GPUs' processors, by its own processes; None where that is not known, as is the memory."""
    gpu_memory_mb: float | None = None


class Supervised:
    """A program under its own supervisor process. Closing it, or dying, ends the program's whole tree."""

    def __init__(self, spec: ProcessSpec) -> None:
        control_read, self._control = os.pipe()
        self._status, status_write = os.pipe()
        # -I -S: nothing of the user's site or environment can slow the supervisor or change it.
        argv = [sys.executable, "-I", "-S", "-c", _START, str(control_read), str(status_write)]
        if spec.namespace:
            argv = [*_NAMESPACE, *_LOOPBACK_UP, *argv]
        try:
            self._process = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                pass_fds=(control_read, status_write),
                start_new_session=True,
                stdout=subprocess.DEVNULL,
                cwd="/",
            )
        except FileNotFoundError as error:
            raise UsageError(f"`isolation: namespace` needs {error.filename} (Debian package util-linux)") from None
        finally:
            os.close(control_read)
            os.close(status_write)
        send(self._control, spec.to_message())
        self.tree = Tree(self._process.pid)
        """All that runs under the supervisor."""
        self.pid: int | None = None
        self.result: ProcessResult | None = None

    def statuses(self, timeout_s: float | None = None) -> Iterator[Status | None]:
        """What is heard until the end; None each time nothing was heard for `timeout_s`."""
        if self.result is not None:
            return
        while self.result is None:
            if not select.select([self._status], [], [], timeout_s)[0]:
                yield None
                continue
            message = receive(self._status)
            if message is None:
                self.result = self._supervisor_died()
            elif message[0] == "status":
                yield Status(*message[1:])
            elif message[0] == "started":
                self.pid = message[1]
            else:
                self.result = ProcessResult.from_message(message[1])
        self._close()

    def wait(self) -> ProcessResult:
        for _ in self.statuses():
            pass
        assert self.result is not None
        return self.result

    def end(self, why: str) -> None:
        """Ends the tree: SIGTERM, after the grace SIGKILL. `wait` returns when nothing of it is left."""
        if self.result is None:
            try:
                send(self._control, why)
            except BrokenPipeError:
                pass  # It has ended by itself meanwhile.

    def _supervisor_died(self) -> ProcessResult:
        code = self._process.wait()
        if self.pid is not None:
            try:
                os.killpg(self.pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                pass
        return ProcessResult(failure=f"its supervisor process ended unexpectedly (code {code})")

    def _close(self) -> None:
        os.close(self._control)
        os.close(self._status)
        self._process.wait()
