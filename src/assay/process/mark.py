"""The environment mark of a run's processes: what a program starts has it too, wherever it goes.

A mark is a chain, outermost first: a supervised program may itself supervise others, which belong to both. What a
process was started with is in /proc/PID/environ, which it cannot change; a program that starts another with an empty
environment is found by its parentage instead.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping

VARIABLE = "ASSAY_MARK"
SESSION = "ASSAY_SESSION"
"""Folder of the session that started a process: programs, supervisors and the delivery to sinks have it."""


def new_mark(environment: Mapping[str, str]) -> str:
    """One that no other run has, inside the mark of `environment`."""
    outer = environment.get(VARIABLE, "")
    return f"{outer}/{secrets.token_hex(8)}" if outer else secrets.token_hex(8)


def read_start_environment(pid: int) -> dict[bytes, bytes]:
    """The environment that a process was started with; nothing where it is gone or another user's."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            pairs = (item.partition(b"=") for item in file.read().split(b"\0"))
            return {name: value for name, _, value in pairs if name}
    except OSError:
        return {}


def find_marked(mark: str) -> set[int]:
    """Processes of this mark and of marks inside it; zombies have none."""
    own = mark.encode()
    found = set()
    for pid in running_pids():
        value = read_start_environment(pid).get(VARIABLE.encode(), b"")
        if value == own or value.startswith(own + b"/"):
            found.add(pid)
    return found


def find_started_for(variable: str, value: str) -> set[int]:
    """Processes that were started with this variable, such as ASSAY_SESSION: all that a session started."""
    name, wanted = variable.encode(), os.fsencode(value)
    return {pid for pid in running_pids() if read_start_environment(pid).get(name) == wanted}


def running_pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]
