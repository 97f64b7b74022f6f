from __future__ import annotations

import os
import pwd
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from assay.process.unended import GIVE_UP_S, REFUSED

_MOST_NAMED = 10


@dataclass(frozen=True)
class Unended:
    """A process that could not be ended."""

    pid: int
    name: str
    uid: int | None
    """Its owner's user id; None where the machine hides it."""
    why: str
    """`refused`: Assay may not signal it. Otherwise the letter of its state in /proc."""

    @property
    def owner(self) -> str:
        return "another user" if self.uid is None else _user_name(self.uid)

    def __str__(self) -> str:
        name = "".join(letter if letter.isprintable() else "?" for letter in self.name)
        return f"{self.pid} ({name or 'name hidden'}, owned by {self.owner})"


@dataclass(frozen=True)
class ProcessResult:
    """How a supervised process ended, and what its tree used."""

    returncode: int | None = None
    """Negative: the signal that ended it. None: it never ran, or could not be waited for."""
    exec_time_s: float = 0.0
    ended_because: str = ""
    """Why it was ended from outside: `timeout`, `memory`, or the word given to `Supervised.end`."""
    failure: str = ""
    """Why it could not be started."""
    unseen: str = ""
    """Why its end was not seen though it ran: what became of its supervisor process."""
    stopped: bool = False
    """Somebody had stopped its supervisor process; it was told to go on."""
    failure_log: str = ""
    """File that says more about it."""
    left_behind: int = 0
    """Processes that were still running when the program had exited; they were ended."""
    immortal: tuple[Unended, ...] = ()
    """Processes that could not be ended: another user's, or hanging in the kernel."""
    output_error: str = ""
    companion_s: float = 0.0
    usage: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def from_message(cls, message: Mapping[str, Any]) -> ProcessResult:
        immortal = tuple(Unended(*found) for found in message.get("immortal", ()))
        return cls(**{**message, "immortal": immortal})


def unended_warnings(processes: Sequence[Unended], whose: str = "") -> list[str]:
    """Return a warning for each reason why processes could not be ended, or an empty list if there are none.

    `whose` follows their names, such as " of the service".
    """
    return [
        _warning([process for process in processes if process.why == why], why, whose)
        for why in dict.fromkeys(process.why for process in processes)
    ]


def _warning(processes: Sequence[Unended], why: str, whose: str) -> str:
    one = len(processes) == 1
    named = [str(process) for process in processes[:_MOST_NAMED]]
    if len(processes) > _MOST_NAMED:
        named.append(f"{len(processes) - _MOST_NAMED} more")
    together = named[0] if one else f"{', '.join(named[:-1])} and {named[-1]}"
    what = f"process{'' if one else 'es'} {together}{whose}"
    if why == "D":
        return f"{what} could not be ended: {'it hangs' if one else 'they hang'} in the kernel (state D)"
    if why != REFUSED:
        return f"{what} did not end within {GIVE_UP_S:g} s of SIGKILL (state {why})"
    owners = " or ".join(dict.fromkeys([*(process.owner for process in processes if process.uid is not None), "root"]))
    pids = " ".join(str(process.pid) for process in processes[:_MOST_NAMED])
    it = "it" if one else "them"
    return (
        f"{what} could not be ended: Assay runs as {_user_name(os.geteuid())} and may not signal {it}. "
        f"End {it} as {owners}: kill {pids}"
    )


def _user_name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"user {uid}"
