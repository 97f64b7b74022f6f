"""A service that a run needs beside it (a Ray cluster): started first, ready before the clock starts."""

import os
import time

from assay.files.writing import open_existing
from assay.process.output_mask import OutputMask
from assay.process.spawn import Pump, spawn
from assay.process.tree import Tree
from assay.process.unkillable import GIVE_UP_S

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class Companion:
    """A service beside a program. It is ready when `ready` appears in its output; a start that fails is tried again,
    `attempts` times in all."""

    def __init__(
        self,
        spec: "dict[str, Any]",
        tree: Tree,
        mask: "list[tuple[bytes, bytes]]",
        shapes: "dict[str, Any] | None" = None,
    ) -> None:
        """`mask`, `shapes`: what is replaced in its log; see `Pump`."""
        self._spec = spec
        self._tree = tree
        self._mask = mask
        self._shapes = shapes
        self.output: Pump | None = None
        """What it prints, once it has been started; whoever waits for the run copies it to the log."""
        self.pid = 0
        self.started_in_s = 0.0

    def start(self, abandoned: "Callable[[], bool]") -> str:
        """Starts it; returns why that failed, or nothing."""
        begun = time.monotonic()
        why = ""
        for attempt in range(1, self._spec["attempts"] + 1):
            why = self._attempt(attempt, abandoned)
            if not why or abandoned():
                break
            self._clear()
        self.started_in_s = time.monotonic() - begun
        return why

    def pids(self) -> set[int]:
        tree = Tree(self.pid)
        return {self.pid, *tree.walk()}

    def _attempt(self, attempt: int, abandoned: "Callable[[], bool]") -> str:
        spec = self._spec
        log = open_existing(spec["log"], os.O_RDWR | os.O_APPEND)
        try:
            os.write(log, self._heading(attempt))
            start = os.lseek(log, 0, os.SEEK_END)
        except OSError as error:
            os.close(log)
            return f"cannot write {spec['log']}: {error.strerror}"
        self.output = output = Pump([log], self._mask, self._shapes)
        try:
            self.pid, _ = spawn(spec["argv"], spec["env"], spec["cwd"], output.write_end, output.write_end, [], 0)
        except OSError as error:
            return f"cannot start {error.filename}: {error.strerror}"
        finally:
            output.close_write_end()
        deadline = time.monotonic() + spec["timeout_s"]
        while time.monotonic() < deadline and not abandoned():
            output.copy()
            if _contains(spec["log"], start, spec["ready"]):
                return ""
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                output.copy()
                return (
                    f"{spec['name']} ended with {os.waitstatus_to_exitcode(status)} while starting; see {spec['log']}"
                )
            time.sleep(0.05)
        return f"{spec['name']} was not ready after {spec['timeout_s']:g} s; see {spec['log']}"

    def _heading(self, attempt: int) -> bytes:
        command = " ".join(self._spec["argv"]).encode("utf-8", "surrogateescape")
        mask = OutputMask(self._mask, self._shapes)
        return (
            b"$ " + mask.feed(command) + mask.end() + f"   (attempt {attempt} of {self._spec['attempts']})\n".encode()
        )

    def _clear(self) -> None:
        """Ends what a failed start has left, so that it is not in the way of the next. What cannot be ended stays."""
        if self.output is not None:
            self.output.close()
        self._tree.send(15)
        deadline = time.monotonic() + 5
        while True:
            try:
                if os.waitpid(-1, os.WNOHANG)[0] == 0:
                    time.sleep(0.02)
            except ChildProcessError:
                return
            now = time.monotonic()
            if now > deadline + GIVE_UP_S or (now > deadline and not self._tree.send(9) and self._tree.refused):
                return


def _contains(path: str, start: int, text: str) -> bool:
    with open(path, "rb") as log:
        log.seek(start)
        return text.encode() in log.read(1 << 20)
