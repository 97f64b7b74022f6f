"""The processes below one process, by walking /proc.

Between two walks only processes that are new are looked at: one that was not a descendant before cannot become
one, so on a machine with many processes a walk costs little more than listing /proc.
"""

import os

TYPE_CHECKING = False

if TYPE_CHECKING:
    from resource import struct_rusage


def parent_of(pid: int) -> int:
    """0 where the process is gone."""
    fields = stat_fields(pid)
    return int(fields[1]) if fields else 0


def stat_fields(pid: int) -> list[bytes]:
    """/proc/PID/stat from the state on (proc(5) numbers it 3): the name before it may hold spaces and brackets."""
    try:
        descriptor = os.open(f"/proc/{pid}/stat", os.O_RDONLY)
    except OSError:
        return []
    try:
        content = os.read(descriptor, 1024)
    except OSError:
        return []
    finally:
        os.close(descriptor)
    return content[content.rfind(b")") + 2 :].split()


def tree_cpu_s(root: int) -> float:
    """Seconds of CPU that the processes below `root` have used, and those that it has waited for. Not its own."""
    ticks = 0
    for pid in (root, *Tree(root).walk()):
        fields = stat_fields(pid)
        if fields:
            own = (int(fields[11]) + int(fields[12])) if pid != root else 0
            ticks += own + int(fields[13]) + int(fields[14])
    return ticks / os.sysconf("SC_CLK_TCK")


def _children(pid: int) -> list[int] | None:
    """None where the process, or the kernel's list, is not there."""
    found: list[int] = []
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            descriptor = os.open(f"/proc/{pid}/task/{thread}/children", os.O_RDONLY)
            try:
                content = os.read(descriptor, 1 << 16)
            finally:
                os.close(descriptor)
            found += map(int, content.split())
    except OSError:
        return None
    return found


class Tree:
    def __init__(self, root: int) -> None:
        self.root = root
        self.members: set[int] = set()
        self._others: set[int] = set()
        self.refused: set[int] = set()
        """Processes that the last `send` was not permitted to signal: another user's."""

    def walk(self) -> set[int]:
        """Descendants of the root that are there now, zombies among them."""
        present = {int(name) for name in os.listdir("/proc") if name.isdigit()}
        self.members &= present
        self._others &= present
        new = present - self.members - self._others
        new.discard(self.root)
        parents = {pid: parent_of(pid) for pid in new}
        while True:
            found = {pid for pid, parent in parents.items() if parent == self.root or parent in self.members}
            if not found:
                break
            self.members |= found
            for pid in found:
                del parents[pid]
        self._others |= {pid for pid, parent in parents.items() if parent}
        return self.members

    def look(self) -> set[int]:
        """The same as `walk`, but by the children that the kernel lists for each thread (proc(5)): its cost grows with
        the tree, not with the machine. A list that is read while a process on it ends may lack others, so known ones
        stay while they exist. Good for samples, not for ending a tree."""
        found: set[int] = set()
        rest = [self.root, *self.members]
        while rest:
            pid = rest.pop()
            children = _children(pid)
            if children is None:
                if pid == self.root:
                    return self.walk()  # a kernel without such lists
                continue  # It is over.
            if pid != self.root:
                found.add(pid)
            rest += [child for child in children if child not in found and child not in self.members]
        self.members = found
        self._others -= found
        return self.members

    def forget(self) -> None:
        """Forgets what was seen, for a walk that must not rely on it: ending a tree allows no gap."""
        self.members, self._others = set(), set()

    def send(self, signal: int, keep: int = 0) -> int:
        """Signals every descendant but `keep`; returns how many running ones were signalled."""
        self.forget()
        self.refused = set()
        count = 0
        members = self.walk()
        # Where /proc hides other users' processes (hidepid), the kernel still lists the root's own children.
        hidden = {pid for pid in _children(self.root) or () if pid not in members}
        for pid in members | hidden:
            fields = stat_fields(pid)
            if pid == keep or (not fields and pid not in hidden) or (fields and fields[0] == b"Z"):
                continue
            try:
                os.kill(pid, signal)
                count += 1
            except ProcessLookupError:
                continue
            except PermissionError:
                self.refused.add(pid)
        return count


# What the processes of a run used, from the kernel's own accounts (wait4), each taken when it is waited for.
#
# A companion is in them from the start of the program to its end; what it took to start and to stop is not the run's.

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


# What the kernel says of one process in the files of /proc/PID; see proc(5).


def cpu_s(pid: int) -> float:
    """Seconds of its own threads, in ticks; 0 where it is gone."""
    fields = stat_fields(pid)
    return (int(fields[11]) + int(fields[12])) / TICK if fields else 0.0


def scheduled_s(pid: int, thread: int = 0) -> tuple[float, float]:
    """Seconds that one thread ran, and seconds that it was ready to run while others had the processors. Its process's
    first thread unless `thread` is given; zeros where it is gone, or the kernel keeps no such account."""
    try:
        descriptor = os.open(
            f"/proc/{pid}/task/{thread}/schedstat" if thread else f"/proc/{pid}/schedstat", os.O_RDONLY
        )
    except OSError:
        return 0.0, 0.0
    try:
        ran, waited = os.read(descriptor, 64).split()[:2]
    except (OSError, ValueError):
        return 0.0, 0.0
    finally:
        os.close(descriptor)
    return int(ran) / 1e9, int(waited) / 1e9


def io_fields(pid: int) -> list[bytes]:
    """Names and bytes by turns: rchar, wchar, syscr, syscw, read_bytes, write_bytes, cancelled_write_bytes. Empty where
    the process is gone or another user's."""
    try:
        descriptor = os.open(f"/proc/{pid}/io", os.O_RDONLY)
    except OSError:
        return []
    try:
        return os.read(descriptor, 512).split()
    except OSError:
        return []
    finally:
        os.close(descriptor)


def status_bytes(pid: int | str, field: str) -> int:
    """Bytes of a line such as VmRSS or VmHWM; 0 where a process has none: a zombie, a thread of the kernel."""
    start = field.encode() + b":"
    with open(f"/proc/{pid}/status", "rb") as status:
        line = next((line for line in status if line.startswith(start)), b"none: 0 kB")
    return int(line.split()[1]) * 1024
