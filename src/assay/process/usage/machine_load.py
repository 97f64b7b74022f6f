"""What the machine did meanwhile: the hypervisor's share, other processes, the CPU quota."""

import os
import time

from assay.process.usage.accounts import TICK

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


class MachineLoad:
    def __init__(self) -> None:
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

    @property
    def steal_share(self) -> float:
        if self._wall < SHORTEST_S:
            return 0.0
        return min(self._stolen / (self._wall * (os.cpu_count() or 1)), 1.0)

    def neighbour_cpu_s(self, own_cpu_s: float) -> float:
        return max(self._worked - own_cpu_s, 0.0) if self._wall >= SHORTEST_S else 0.0
