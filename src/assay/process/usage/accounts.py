"""What the processes of a run used, from the kernel's own accounts (wait4), each taken when it is waited for.

A companion is in them from the start of the program to its end; what it took to start and to stop is not the run's.
"""

import os

from assay.process.usage.tree import stat_fields

TYPE_CHECKING = False
if TYPE_CHECKING:
    from resource import struct_rusage

TICK = os.sysconf("SC_CLK_TCK")
BLOCKS_PER_MB = 2048


class Accounts:
    def __init__(self, companion: set[int]) -> None:
        """`companion`: its processes when the program starts."""
        user, system = _sum_times(companion)
        self.user_s, self.system_s = -user, -system
        self.largest_mb = self.read_mb = self.write_mb = 0.0
        self._companion = companion
        self._closed: set[int] = set()
        self._at_end: dict[int, tuple[float, float]] = {}

    def add(self, pid: int, used: "struct_rusage") -> None:
        """Adds a process that was waited for, with all that it had itself waited for."""
        if pid in self._closed:
            return
        self.user_s += used.ru_utime
        self.system_s += used.ru_stime
        if pid not in self._companion:
            self.largest_mb = max(self.largest_mb, used.ru_maxrss / 1024)
            self.read_mb += used.ru_inblock / BLOCKS_PER_MB
            self.write_mb += used.ru_oublock / BLOCKS_PER_MB

    def close(self, companion: set[int]) -> None:
        """Closes the accounts at the program's end: what the companion has used by now counts, what it uses later does
        not."""
        user, system = _sum_times(companion)
        self.user_s = max(self.user_s + user, 0.0)
        self.system_s = max(self.system_s + system, 0.0)
        self._closed = companion

    def note_survivors(self, pids: set[int]) -> None:
        """Notes what processes have used that are still there at the program's end."""
        self._at_end = {pid: _sum_times({pid}) for pid in pids}

    def add_unended(self, pids: set[int]) -> None:
        """Adds processes that cannot be ended, and so are never waited for: what they used up to the program's end, or
        up to now if the program is one of them."""
        for pid in pids - self._closed:
            user, system = self._at_end.get(pid) or _sum_times({pid})
            self.user_s += user
            self.system_s += system


def _sum_times(pids: set[int]) -> tuple[float, float]:
    """User and system seconds, with those of children that were waited for."""
    user = system = 0
    for pid in pids:
        fields = stat_fields(pid)
        if fields:
            user += int(fields[11]) + int(fields[13])
            system += int(fields[12]) + int(fields[14])
    return user / TICK, system / TICK
