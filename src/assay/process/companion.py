"""A service that a run needs beside it (a Ray cluster): started first, ready before the clock starts."""

import os
import time

from assay.process.spawn import spawn
from assay.process.tree import Tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class Companion:
    """Ready when `ready` appears in its output. A start that fails is tried again, `attempts` times in all."""

    def __init__(self, spec: "dict[str, Any]", tree: Tree) -> None:
        self._spec = spec
        self._tree = tree
        self.pid = 0
        self.started_in_s = 0.0

    def start(self, abandoned: "Callable[[], bool]") -> str:
        """Why it could not be started, or nothing."""
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
        log = os.open(spec["log"], os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        try:
            os.write(log, f"$ {' '.join(spec['argv'])}   (attempt {attempt} of {spec['attempts']})\n".encode())
            start = os.lseek(log, 0, os.SEEK_END)
            self.pid, _ = spawn(spec["argv"], spec["env"], spec["cwd"], log, log, [], 0)
        except OSError as error:
            return f"cannot start {error.filename}: {error.strerror}"
        finally:
            os.close(log)
        deadline = time.monotonic() + spec["timeout_s"]
        while time.monotonic() < deadline and not abandoned():
            if _contains(spec["log"], start, spec["ready"]):
                return ""
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                return (
                    f"{spec['name']} ended with {os.waitstatus_to_exitcode(status)} while starting; see {spec['log']}"
                )
            time.sleep(0.05)
        return f"{spec['name']} was not ready after {spec['timeout_s']:g} s; see {spec['log']}"

    def _clear(self) -> None:
        """Nothing of a failed start may be in the way of the next."""
        self._tree.send(15)
        deadline = time.monotonic() + 5
        while True:
            try:
                if os.waitpid(-1, os.WNOHANG)[0] == 0:
                    time.sleep(0.02)
            except ChildProcessError:
                return
            if time.monotonic() > deadline:
                self._tree.send(9)


def _contains(path: str, start: int, text: str) -> bool:
    with open(path, "rb") as log:
        log.seek(start)
        return text.encode() in log.read(1 << 20)
