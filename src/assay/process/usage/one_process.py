"""What the kernel says of one process in the files of /proc/PID; see proc(5)."""

import os

from assay.process.usage.accounts import TICK
from assay.process.usage.tree import stat_fields


def cpu_s(pid: int) -> float:
    """Seconds of its own threads, in ticks; 0 where it is gone."""
    fields = stat_fields(pid)
    return (int(fields[11]) + int(fields[12])) / TICK if fields else 0.0


def queued_s(pid: int) -> float:
    """Seconds ready to run while others had the cores."""
    with open(f"/proc/{pid}/schedstat", "rb") as said:
        return int(said.read().split()[1]) / 1e9


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
