"""The process that owns a run's tree.

Started by `Supervised` with two pipes: on `control` come the token of all messages, the specification, then why to end,
and once more to end at once; its closing means that Assay has died. On `status` go: ("starting",), ("started", pid),
("status", …) twice a second, ("finished", {…}). Sampling, output, the time limit and the memory limit all happen in one
loop here, which never waits for a reader: a status that finds the pipe full is left out.
"""

import os
import resource
import select
import sys
import time

from assay.files.writing import open_existing
from assay.process.companion import Companion
from assay.process.message import TOKEN_BYTES, Inbox, ProgramEnding, send
from assay.process.sampler import Sampler
from assay.process.spawn import SIGCONT, Pump, adopt_orphans, keep_out, set_frozen, spawn
from assay.process.tree import Accounts, Tree, stat_fields
from assay.process.unkillable import GIVE_UP_S, look_at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from assay.process.gpu_watch import GpuWatch
    from assay.process.limits import MemoryGroup
    from assay.process.unkillable import Found

SIGTERM, SIGKILL = 15, 9
STATUS_EVERY_S = 0.5
TAMPERED = "something else wrote on the pipe between Assay and its supervisor process"
REST_S = 0.005
"""Seconds of rest before the program starts. Our own start has used up our turn on a busy machine: without a rest the
program would wait for it, and so would the note of its end."""
FIRST_SAMPLE = 4
"""The first sample is taken after a period divided by this; a program that ends sooner is left alone."""


class Supervisor:
    def __init__(self, control: int, status: int) -> None:
        self._control = control
        self._status = status
        self._token = os.read(control, TOKEN_BYTES)
        self._inbox = Inbox(control, self._token)
        os.set_blocking(status, False)
        self._assay = os.getppid()
        self._spec: dict[str, Any] = self._specification()
        self._tree = Tree(os.getpid())
        self._poll = select.poll()
        self._poll.register(control, select.POLLIN)
        self._main = 0
        self._wait_status: int | None = None
        self._ended_because = ""
        self._asked = False
        self._term_at = self._kill_at = 0.0
        self._out_of_reach = False
        self._left_behind: set[int] = set()
        self._companion: Companion | None = None
        self._pumps: list[Pump] = []
        self._mask = [(bytes(value), bytes(shown)) for value, shown in self._spec["mask"]]
        self._shapes = self._spec["shapes"]
        self._accounts = Accounts(set())
        self._survivors: set[int] = set()
        self._last_end = 0.0

    def _specification(self) -> "dict[str, Any]":
        while True:
            select.select([self._control], [], [])
            found = self._inbox.take()
            if found:
                return dict(found[0])
            if self._inbox.closed:
                raise SystemExit(1)  # Assay has died before it said what to run.

    def run(self) -> None:
        try:
            result = self._run()
        except Exception as error:  # noqa: BLE001 - whatever it is, the tree must end and Assay must hear of it
            self._end("its supervisor failed")
            self._spec["grace_s"] = 0.0
            self._finish_tree()
            why = " ".join(f"its supervisor process failed: {type(error).__name__}: {error}".split())
            result = {"failure": "" if self._main else why, "unseen": why if self._main else ""}
        if "immortal" not in result:
            result["immortal"] = self._unended()
        if self._companion:
            result["companion_s"] = self._companion.started_in_s
        os.set_blocking(self._status, True)  # Nothing is left that has to be watched: now there is time to wait.
        try:
            send(self._status, self._token, ("finished", result))
        except BrokenPipeError:
            pass  # Assay has died; ending the tree was what was left to do.

    def _run(self) -> "dict[str, Any]":
        result = self._start_companion() or self._start_main()
        if result is None:
            self._watch()
            return self._result()
        self._end("failed to start")
        self._finish_tree()
        return result

    def _finish_tree(self) -> None:
        while not self._is_gone():
            self._sweep(time.monotonic())
            time.sleep(0.01)

    def _start_companion(self) -> "dict[str, Any] | None":
        if not self._spec["companion"]:
            return None
        self._companion = Companion(self._spec["companion"], self._tree, self._mask, self._shapes)
        failure = self._companion.start(abandoned=self._is_abandoned)
        if self._companion.output is not None:
            self._pumps = [self._companion.output]
        if not failure:
            return None
        log = self._spec["companion"]["log"]
        return {"failure": failure, "failure_log": str(log), "ended_because": self._ended_because}

    def _is_abandoned(self) -> bool:
        self._read_control(0)
        return bool(self._ended_because)

    def _start_main(self) -> "dict[str, Any] | None":
        spec = self._spec
        try:
            files = {name: _append(spec[name]) for name in ("combined", "stdout", "stderr")}
        except OSError as error:
            return {"failure": f"cannot write {error.filename}: {error.strerror}", "ended_because": ""}
        pumps = [Pump([files[name], files["combined"]], self._mask, self._shapes) for name in ("stdout", "stderr")]
        self._pumps += pumps
        self._accounts = Accounts(self._companion.pids() if self._companion else set())
        self._ending = ProgramEnding()
        self._sampler = Sampler(self._tree, spec["usage_csv"], _gpu_watch(spec["gpus"]))
        out, err = (pump.write_end for pump in pumps)
        self._tell(("starting",))  # Before: the program's first act may be to kill us.
        self._group = _memory_group(spec["memory_mb"])
        time.sleep(REST_S)
        try:
            if self._group:
                self._group.enter()
            self._main, self._started = spawn(
                spec["argv"], spec["env"], spec["cwd"], out, err, spec["cpus"], spec["nice"]
            )
        except OSError as error:
            return {"failure": f"cannot start {error.filename}: {error.strerror}", "ended_because": ""}
        finally:
            if self._group:
                self._group.leave()
            for pump in pumps:
                pump.close_write_end()
        self._ending.watch(self._main)
        self._sampler.started = self._started
        for pump in self._pumps:
            if pump.open:
                self._poll.register(pump.read_end, select.POLLIN | select.POLLHUP)
        self._main_fd = os.pidfd_open(self._main)
        self._poll.register(self._main_fd, select.POLLIN)
        self._tell(("started", self._main))
        return None

    def _watch(self) -> None:
        spec = self._spec
        limit = self._started + spec["timeout_s"] if spec["timeout_s"] else 0.0
        period = 1.0 / spec["sample_hz"] if spec["sample_hz"] else 3600.0
        next_sample = self._started + period / FIRST_SAMPLE
        next_status = self._started + STATUS_EVERY_S
        while True:
            now = time.monotonic()
            if now >= next_sample and self._wait_status is None:
                self._sampler.sample(self._accounts)
                next_sample = max(next_sample + period, now)
                if spec["memory_mb"] and self._sampler.rss_mb > spec["memory_mb"]:
                    self._end("memory")
            if now >= next_status:
                if os.getppid() != self._assay:
                    self._end("abandoned")  # The end of the pipe would say so, but another process may hold it open.
                seen = self._sampler
                seen.flush()
                self._tell(("status", now - self._started, seen.cpu_s, seen.rss_mb, seen.gpu_pct, seen.gpu_memory_mb))
                next_status = now + STATUS_EVERY_S
            if limit and now >= limit and self._wait_status is None:
                self._end("timeout")
            if self._term_at:
                self._sweep(now)
                if self._is_gone():
                    break
                wait = 0.01
            else:
                wait = min(next_sample, next_status, limit or next_status) - now
            self._read_control(max(wait, 0.0))
            self._reap()
        for pump in self._pumps:
            # A process that cannot be ended may write for ever: of what it writes only what is there now is kept.
            while pump.copy() and _childless():
                pass
            pump.close()

    def _read_control(self, wait_s: float) -> None:
        for descriptor, _ in self._poll.poll(int(wait_s * 1000) + 1 if wait_s else 0):
            if descriptor == self._control:
                self._read_words()
                continue
            for pump in self._pumps:
                if descriptor == pump.read_end:
                    pump.copy()
                    if not pump.open:
                        self._poll.unregister(descriptor)

    def _read_words(self) -> None:
        for why in self._inbox.take():
            if self._asked:
                self._spec["grace_s"] = 0.0
            self._asked = True
            self._end(str(why))
        if self._inbox.closed or self._inbox.forged:
            self._end(TAMPERED if self._inbox.forged else "abandoned")
            self._poll.unregister(self._control)

    def _reap(self) -> None:
        """Waits for all processes below us that have ended, so that their time is in our accounts."""
        while True:
            try:
                ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            except ChildProcessError:
                return
            if ended is None:
                return
            if self._main and self._wait_status is None:
                self._sampler.note_ended(ended.si_pid)
            pid, status, used = os.wait4(ended.si_pid, 0)
            self._accounts.add(pid, used)
            if pid == self._main:
                self._main_ended(status)
            elif pid in self._survivors:
                self._last_end = time.monotonic()
                self._sampler.note_end()

    def _main_ended(self, status: int) -> None:
        self._sampler.note_end()
        self._wait_status = status
        self._last_end = self._ending.at
        self._poll.unregister(self._main_fd)
        if _childless():
            self._accounts.close(set())
            self._term_at = self._term_at or time.monotonic()
            return
        companion = self._companion.pids() if self._companion else set()
        self._accounts.close(companion)
        self._tree.forget()
        self._survivors = self._tree.walk() - companion
        self._accounts.note_survivors(self._survivors)
        self._left_behind = set() if self._term_at else _running(self._survivors)
        self._end("")

    def _end(self, why: str) -> None:
        self._ended_because = self._ended_because or why
        if not self._term_at:
            self._term_at = time.monotonic()
            self._thaw()
            self._tree.send(SIGTERM)
            self._tree.send(SIGCONT)  # So that a stopped process hears it too.

    def _thaw(self) -> None:
        if not self._spec["freezer"]:
            return
        try:
            set_frozen(self._spec["freezer"], False)
        except OSError:
            pass  # The group is gone, and with it all that could be frozen.

    def _sweep(self, now: float) -> None:
        self._reap()
        if now >= self._term_at + self._spec["grace_s"]:
            self._thaw()  # Once more: whoever froze it may not have known that it was to end.
            signalled = self._tree.send(SIGKILL)
            self._kill_at = self._kill_at or now
            self._out_of_reach = bool(self._tree.refused) and not signalled
            self._reap()

    def _is_gone(self) -> bool:
        """Whether nothing is left that ending it, or waiting for it, could still end."""
        if _childless() or self._out_of_reach:
            return True
        return bool(self._kill_at) and time.monotonic() > self._kill_at + GIVE_UP_S

    def _result(self) -> "dict[str, Any]":
        status = self._wait_status
        if self._group:
            if self._group.has_refused():
                self._ended_because = self._ended_because or "memory"
            self._group.close()
        immortal = self._unended()
        left = {process[0] for process in immortal}
        self._accounts.add_unended(left)
        return {
            "failure": "",
            "returncode": None if status is None else os.waitstatus_to_exitcode(status),
            "exec_time_s": (self._ending.at or time.monotonic()) - self._started,
            "ended_because": self._ended_because,
            "left_behind": len(self._left_behind - left),
            "immortal": immortal,
            "output_error": next((pump.error for pump in self._pumps if pump.error), ""),
            "usage": self._sampler.finish(self._accounts, (self._last_end or time.monotonic()) - self._started),
        }

    def _unended(self) -> "list[Found]":
        if _childless():
            return []
        self._tree.forget()
        refused = self._tree.refused
        found = look_at(self._tree.walk() | refused, refused)
        # As the first process of a namespace we take all of it with us: the kernel asks nobody's permission.
        return [process for process in found if os.getpid() != 1 or process[0] not in refused]

    def _tell(self, message: "tuple[Any, ...]") -> None:
        try:
            send(self._status, self._token, message)
        except BlockingIOError:
            pass  # The pipe is full: Assay stands still, and has hundreds of messages to read.
        except BrokenPipeError:
            self._end("abandoned")


def _memory_group(megabytes: float) -> "MemoryGroup | None":
    if not megabytes:
        return None
    from assay.process.limits import MemoryGroup  # Most runs have no limit.

    return MemoryGroup.make(megabytes)


def _gpu_watch(asked: "list[Any] | None") -> "GpuWatch | None":
    if not asked:
        return None
    from assay.process.gpu_watch import GpuWatch  # It takes milliseconds that other runs need not pay.

    return GpuWatch(*asked)


def _childless() -> bool:
    """Whether this process has no children; then nothing of the tree is left: an orphan below a subreaper is its
    child."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return True
    return False


def _running(pids: set[int]) -> set[int]:
    return {pid for pid in pids if (stat_fields(pid) or [b"Z"])[0] != b"Z"}


def _append(path: str) -> int:
    return open_existing(path, os.O_WRONLY | os.O_APPEND)


def main() -> None:
    control, status = int(sys.argv[1]), int(sys.argv[2])
    for pipe in (control, status):
        os.set_inheritable(pipe, False)
    keep_out()
    adopt_orphans()
    # A core file of a crashed benchmark would fill the disk of a nightly machine.
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    Supervisor(control, status).run()
