"""Samples what a tree uses, from /proc. All counts are in the units the kernel gives them in."""

import os
import resource
import time

from assay.process.tree import Tree, stat_fields

TICK = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")
HEADER = "t_s,cpu_s,rss_mb,read_mb,write_mb,threads,processes,steal_s,busy_s\n"


def machine_times() -> tuple[float, float]:
    """Seconds of steal, and of work of any kind, of all processors since boot."""
    with open("/proc/stat", "rb") as lines:
        fields = [int(field) for field in lines.readline().split()[1:9]]
    user, nice, system, _, _, irq, softirq, steal = fields
    return steal / TICK, (user + nice + system + irq + softirq) / TICK


def children_times() -> tuple[float, float, float]:
    """User and system seconds and the largest resident size (MB) of all children that were waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime, used.ru_stime, used.ru_maxrss / 1024


def throttled_s() -> float:
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


class Sampler:
    def __init__(self, tree: Tree, path: str | None) -> None:
        self._tree = tree
        self._io: dict[int, tuple[int, int]] = {}
        self._rss_sum = 0.0
        self._steal, self._busy = machine_times()
        self._throttled = throttled_s()
        self._before = children_times()
        self.started = time.monotonic()
        self.count = 0
        self.cpu_s = self.rss_mb = self.peak_rss_mb = 0.0
        self.threads = self.processes = self.peak_threads = self.peak_processes = 0
        self._out = open(path, "w", buffering=1 << 16) if path else None  # noqa: SIM115
        self._write(HEADER)

    def sample(self) -> None:
        ticks = pages = self.threads = self.processes = 0
        for pid in self._tree.walk():
            fields = stat_fields(pid)
            if not fields or fields[0] == b"Z":
                continue
            ticks += int(fields[11]) + int(fields[12]) + int(fields[13]) + int(fields[14])
            self.threads += int(fields[17])
            pages += int(fields[21])
            self.processes += 1
            self._read_io(pid)
        user, system, largest = children_times()
        self.cpu_s = ticks / TICK + user - self._before[0] + system - self._before[1]
        self.rss_mb = pages * PAGE / 2**20
        self._rss_sum += self.rss_mb
        self.count += 1
        self.peak_rss_mb = max(self.peak_rss_mb, self.rss_mb, largest)
        self.peak_threads = max(self.peak_threads, self.threads)
        self.peak_processes = max(self.peak_processes, self.processes)
        steal, busy = machine_times()
        read, written = self._io_mb()
        self._write(
            f"{time.monotonic() - self.started:.3f},{self.cpu_s:.3f},{self.rss_mb:.2f},{read:.2f},{written:.2f},"
            f"{self.threads},{self.processes},{steal - self._steal:.2f},{busy - self._busy:.2f}\n"
        )

    def finish(self) -> dict[str, float]:
        """Called when every process is gone: CPU time is then exact, from the kernel's own accounts."""
        user, system, largest = children_times()
        user, system = user - self._before[0], system - self._before[1]
        wall = time.monotonic() - self.started
        steal, busy = machine_times()
        read, written = self._io_mb()
        if self._out:
            try:
                self._out.close()
            except OSError:
                pass  # A full disk: the totals below are in the record all the same.
        processors = os.cpu_count() or 1
        return {
            "wall_s": wall,
            "cpu_s": user + system,
            "cpu_user_s": user,
            "cpu_system_s": system,
            "peak_rss_mb": max(self.peak_rss_mb, largest),
            "mean_rss_mb": self._rss_sum / max(self.count, 1),
            "read_mb": read,
            "write_mb": written,
            "peak_threads": self.peak_threads,
            "peak_processes": self.peak_processes,
            "steal_share": (steal - self._steal) / max(wall * processors, 1e-9),
            "neighbour_cpu_s": max(busy - self._busy - user - system, 0.0),
            "throttled_s": throttled_s() - self._throttled,
            "samples": self.count,
        }

    def _read_io(self, pid: int) -> None:
        try:
            descriptor = os.open(f"/proc/{pid}/io", os.O_RDONLY)
        except OSError:
            return
        try:
            content = os.read(descriptor, 512)
        except OSError:
            return
        finally:
            os.close(descriptor)
        lines = content.split()
        if len(lines) >= 12:
            self._io[pid] = (int(lines[9]), int(lines[11]))

    def _io_mb(self) -> tuple[float, float]:
        read = sum(item[0] for item in self._io.values()) / 2**20
        return read, sum(item[1] for item in self._io.values()) / 2**20

    def _write(self, line: str) -> None:
        if self._out is None:
            return
        try:
            self._out.write(line)
        except OSError:
            self._out = None
