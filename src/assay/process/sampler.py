"""Samples what a tree uses, from /proc. All counts are in the units the kernel gives them in."""

import os
import time

from assay.files.writing import open_new
from assay.process.tree import TICK, Accounts, Tree, io_fields, scheduled_s, stat_fields, status_bytes

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

    from assay.process.gpu_watch import GpuWatch

# What the machine did meanwhile: the hypervisor's share, other processes, the CPU quota.

SHORTEST_S = 10 / TICK
"""The machine counts in ticks: over less than ten of them nothing can be said about neighbours."""


def machine_times() -> tuple[float, float]:
    """Seconds of steal, and of work of any kind, of all processors since boot."""
    with open("/proc/stat", "rb") as lines:
        fields = [int(field) for field in lines.readline().split()[1:9]]
    user, nice, system, _, _, irq, softirq, steal = fields
    return steal / TICK, (user + nice + system + irq + softirq) / TICK


def read_throttled_s() -> float:
    """Time this control group was held back by its CPU quota; 0 where there is none or it cannot be read."""
    for path, key, unit in (
        ("/sys/fs/cgroup/cpu.stat", b"throttled_usec", 1e6),
        ("/sys/fs/cgroup/cpu/cpu.stat", b"throttled_time", 1e9),
    ):
        try:
            with open(path, "rb") as lines:
                for line in lines:
                    name, value = line.split()
                    if name == key:
                        return int(value) / unit
        except (OSError, ValueError):
            continue
    return 0.0


PRESSURES = ("cpu", "io", "memory")


def read_pressure_s(what: str) -> float | None:
    """Seconds since boot in which something on the machine stood still for want of `what` (PSI); None from a kernel
    that does not count them."""
    try:
        descriptor = os.open(f"/proc/pressure/{what}", os.O_RDONLY)
    except OSError:
        return None
    try:
        some = os.read(descriptor, 256).split(b"\n")[0]
        return int(some[some.index(b"total=") + 6 :]) / 1e6
    except (OSError, ValueError):
        return None
    finally:
        os.close(descriptor)


class MachineLoad:
    def __init__(self) -> None:
        self._pressure = {what: read_pressure_s(what) for what in PRESSURES}
        self.pressure_s: dict[str, float] = {}
        self._steal, self._busy = machine_times()
        self._throttled = read_throttled_s()
        self._begun = time.monotonic()
        self._stolen = self._worked = self._wall = self.throttled_s = 0.0

    def since(self) -> tuple[float, float]:
        """Seconds of steal and of work since the beginning."""
        steal, busy = machine_times()
        return steal - self._steal, busy - self._busy

    def stop(self) -> None:
        self._wall = time.monotonic() - self._begun
        self._stolen, self._worked = self.since()
        self.throttled_s = read_throttled_s() - self._throttled
        for what, before in self._pressure.items():
            now = read_pressure_s(what) if before is not None else None
            if before is not None and now is not None:
                self.pressure_s[what] = now - before

    @property
    def steal_share(self) -> float:
        if self._wall < SHORTEST_S:
            return 0.0
        return min(self._stolen / (self._wall * (os.cpu_count() or 1)), 1.0)

    def neighbour_cpu_s(self, own_cpu_s: float) -> float:
        return max(self._worked - own_cpu_s, 0.0) if self._wall >= SHORTEST_S else 0.0


class RunQueue:
    """How long the tree's threads were ready to run while others had the processors, from the kernel's account of each.

    A thread is read at each sample, and a child of ours once more when it has ended. Of a grandchild what came after
    the last sample is lost, so the sum is given only where next to all of the CPU time was read.
    """

    def __init__(self, already: set[int]) -> None:
        """`already`: processes that were there before the program. What they waited until now is not its."""
        self._last: dict[int, tuple[float, float]] = {}
        self._ended = [0.0, 0.0]
        for pid in already:
            self.read(pid)
        self._before = self._totals()

    def read(self, pid: int, threads: int = 1) -> None:
        if threads <= 1:
            self._note(pid, scheduled_s(pid))
            return
        try:
            names = os.listdir(f"/proc/{pid}/task")
        except OSError:
            return
        for name in names:
            self._note(int(name), scheduled_s(pid, int(name)))

    def waited_s(self, cpu_s: float) -> float | None:
        """`cpu_s`: what the tree used, from the kernel's exact accounts. None where too little of that was read."""
        ran, waited = (now - before for now, before in zip(self._totals(), self._before, strict=True))
        return max(waited, 0.0) if ran > 0 and ran >= READ * cpu_s else None

    def _note(self, thread: int, now: tuple[float, float]) -> None:
        last = self._last.get(thread)
        if last is not None and now[0] < last[0]:
            if now == (0.0, 0.0):
                return  # It is gone.
            self._ended[0] += last[0]  # Another thread has its number.
            self._ended[1] += last[1]
        self._last[thread] = now

    def _totals(self) -> tuple[float, float]:
        known = self._last.values()
        return self._ended[0] + sum(ran for ran, _ in known), self._ended[1] + sum(waited for _, waited in known)


PAGE = os.sysconf("SC_PAGE_SIZE")
MOST_THREADS = 64
READ = 0.97
"""Share of the CPU time whose threads were read; with less, short processes may have waited long unseen."""
RARELY = 10
"""With more threads than `MOST_THREADS` their waiting is read with every tenth sample: an account takes 5 µs."""
HEADER = "t_s,cpu_s,rss_mb,read_mb,write_mb,threads,processes,steal_s,busy_s"


class Sampler:
    def __init__(self, tree: Tree, path: str | None, gpus: "GpuWatch | None" = None) -> None:
        """Called before the program starts: what need not be done while it runs is done here."""
        self._tree = tree
        self._queue = RunQueue(self._tree.walk())
        self._io: dict[int, tuple[int, int]] = {}
        self._rss_sum = 0.0
        self.started = 0.0
        self.count = 0
        self.cpu_s = self.rss_mb = self.peak_rss_mb = 0.0
        self.threads = self.processes = self.peak_threads = self.peak_processes = 0
        self._out = open_new(path, buffering=1 << 16) if path else None
        self._gpus = gpus
        self.gpu_pct: float | None = None
        self.gpu_memory_mb: float | None = None
        self._write(",".join([HEADER, *(gpus.columns if gpus else ())]) + "\n")
        self._machine = MachineLoad()

    def sample(self, accounts: Accounts) -> None:
        # The kernel lists children by thread: with many threads it is cheaper to go through all processes of the
        # machine.
        members = self._tree.look() if self.threads <= MOST_THREADS else self._tree.walk()
        queue = self.threads <= MOST_THREADS or self.count % RARELY == 0
        ticks = pages = self.threads = self.processes = 0
        for pid in members:
            fields = stat_fields(pid)
            if not fields or fields[0] == b"Z":
                continue
            ticks += int(fields[11]) + int(fields[12]) + int(fields[13]) + int(fields[14])
            self.threads += int(fields[17])
            pages += int(fields[21])
            self.processes += 1
            self._read_io(pid)
            if queue:
                self._queue.read(pid, int(fields[17]))
        self.cpu_s = ticks / TICK + accounts.user_s + accounts.system_s
        self.rss_mb = pages * PAGE / 2**20
        self._rss_sum += self.rss_mb
        self.count += 1
        self.peak_rss_mb = max(self.peak_rss_mb, self.rss_mb)
        self.peak_threads = max(self.peak_threads, self.threads)
        self.peak_processes = max(self.peak_processes, self.processes)
        steal, busy = self._machine.since()
        read, written = self._io_mb()
        self._write(
            f"{time.monotonic() - self.started:.3f},{self.cpu_s:.3f},{self.rss_mb:.2f},{read:.2f},{written:.2f},"
            f"{self.threads},{self.processes},{steal:.2f},{busy:.2f}{self._gpu_cells()}\n"
        )

    def _gpu_cells(self) -> str:
        if self._gpus is None:
            return ""
        values = self._gpus.sample(self._tree.members)
        told = dict(zip(self._gpus.columns, values, strict=True))
        self.gpu_pct, self.gpu_memory_mb = told["gpu_pct"], told["gpu_memory_mb"]
        return "".join(f",{'nan' if value is None else format(value, '.3f')}" for value in values)

    def note_ended(self, pid: int) -> None:
        """A child of ours has ended and was not waited for yet: its account is complete."""
        self._queue.read(pid)

    def note_end(self) -> None:
        """The program, or the last that it left behind, is over: what the machine does from now on is not its."""
        self._machine.stop()
        if self._gpus is not None:
            self._gpus.end()

    def finish(self, accounts: Accounts, wall_s: float) -> "dict[str, Any]":
        """Called when every process is gone: the accounts are then complete, and exact."""
        read, written = self._io_mb()
        if self._out:
            try:
                self._out.close()
            except OSError:
                pass  # A full disk: the totals below are in the record all the same.
        cpu = accounts.user_s + accounts.system_s
        peak = self._peak_mb(accounts.largest_mb)
        return {
            "wall_s": wall_s,
            "cpu_s": cpu,
            "cpu_user_s": accounts.user_s,
            "cpu_system_s": accounts.system_s,
            "peak_rss_mb": peak,
            "mean_rss_mb": self._rss_sum / self.count if self.count else peak,
            "read_mb": max(read, accounts.read_mb),
            "write_mb": max(written, accounts.write_mb),
            "peak_threads": max(self.peak_threads, 1),
            "peak_processes": max(self.peak_processes, 1),
            "steal_share": self._machine.steal_share,
            "neighbour_cpu_s": self._machine.neighbour_cpu_s(cpu),
            "throttled_s": self._machine.throttled_s,
            "cores": os.cpu_count(),
            "run_queue_s": self._queue.waited_s(cpu),
            **{f"pressure_{what}_s": seconds for what, seconds in self._machine.pressure_s.items()},
            "samples": self.count,
            **({} if self._gpus is None else self._gpus.finish(self.started)),
        }

    def _peak_mb(self, largest_mb: float) -> float:
        """Peak memory of the largest process. The kernel's figure is of no use up to our own peak: until its exec a
        process had our memory. The samples' figure stands in."""
        if self.count and largest_mb <= _own_peak_mb():
            return self.peak_rss_mb
        return max(self.peak_rss_mb, largest_mb)

    def _read_io(self, pid: int) -> None:
        fields = io_fields(pid)
        if len(fields) >= 12:
            self._io[pid] = (int(fields[9]), int(fields[11]))

    def _io_mb(self) -> tuple[float, float]:
        read = sum(item[0] for item in self._io.values()) / 2**20
        return read, sum(item[1] for item in self._io.values()) / 2**20

    def flush(self) -> None:
        """So that others can read what is known so far."""
        if self._out is None:
            return
        try:
            self._out.flush()
        except OSError:
            self._out = None

    def _write(self, line: str) -> None:
        if self._out is None:
            return
        try:
            self._out.write(line)
        except OSError:
            self._out = None


def _own_peak_mb() -> float:
    """Peak of the memory that this process has now. `ru_maxrss` may be the peak of the process that started it."""
    return status_bytes("self", "VmHWM") / 2**20
