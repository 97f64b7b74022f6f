"""Processes that could not be ended, as the supervisor and `Leftovers` find them; see `Unended` in `result`."""

import os

from assay.process.tree import stat_fields

TYPE_CHECKING = False
if TYPE_CHECKING:
    Found = tuple[int, str, int | None, str]

GIVE_UP_S = 10.0
"""Seconds after SIGKILL: what is still there then, though it may be signalled, can only be reported."""
REFUSED = "refused"
"""Why: Assay may not signal it. Any other reason is the letter of its state, as in proc(5)."""


def look_at(pids: set[int], refused: set[int]) -> "list[Found]":
    """Pid, name, owner's user id and why, of those that still run. `refused`: those that could not be signalled."""
    found: list[Found] = []
    for pid in sorted(pids):
        fields = stat_fields(pid)
        if fields and fields[0] == b"Z":
            continue
        if not fields and (pid not in refused or not _is_hidden(pid)):
            continue
        found.append((pid, _name(pid), _owner(pid), REFUSED if pid in refused else fields[0].decode()))
    return found


def _is_hidden(pid: int) -> bool:
    """Whether a process without an entry in /proc is there all the same (hidepid)."""
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except ProcessLookupError:
        pass
    return False


def _name(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/comm", "rb") as file:
            return file.read(64).decode(errors="replace").rstrip("\n")
    except OSError:
        return ""


def _owner(pid: int) -> int | None:
    try:
        return os.stat(f"/proc/{pid}").st_uid
    except OSError:
        return None
