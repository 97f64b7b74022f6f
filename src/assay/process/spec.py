from __future__ import annotations

import importlib.util
import os
import pwd
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from assay.process.unkillable import GIVE_UP_S, REFUSED

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


@dataclass(frozen=True)
class GpuWatchSpec:
    """GPUs that are sampled with the tree: columns of their own in `usage_csv`."""

    names: tuple[str, ...]
    """GPUs as CUDA_VISIBLE_DEVICES names them: a number, `GPU-…` or `MIG-…`."""
    library: Path
    """Folder that holds pynvml."""
    certain: bool
    """Whether these GPUs were given to the tree: they count even where none of its processes is seen on them."""

    @classmethod
    def find(cls, names: tuple[str, ...], certain: bool) -> Self | None:
        """None without a GPU or without the driver's library for Python."""
        found = importlib.util.find_spec("pynvml") if names else None
        if found is None or found.origin is None:
            return None
        return cls(names, Path(found.origin).parent, certain)


@dataclass(frozen=True)
class CompanionSpec:
    name: str
    argv: Sequence[str]
    env: Mapping[str, str]
    cwd: Path
    log: Path
    ready: str
    """Text in its output that says it can be used."""
    timeout_s: float = 60.0
    attempts: int = 3


@dataclass(frozen=True)
class ProcessSpec:
    """What to run and within which limits."""

    argv: Sequence[str]
    env: Mapping[str, str]
    cwd: Path
    stdout: Path
    stderr: Path
    combined: Path
    usage_csv: Path | None = None
    timeout_s: float | None = None
    grace_s: float = 5.0
    sample_hz: float = 10.0
    cpus: Sequence[int] = ()
    """Processors it may use; none given: all."""
    memory_mb: float | None = None
    nice: int = 0
    freezer: Path | None = None
    """File that freezes its control group; the group is thawed before the tree is ended."""
    namespace: bool = False
    """Its own network (only `lo`) and process namespace."""
    companion: CompanionSpec | None = field(default=None)
    gpus: GpuWatchSpec | None = None
    mask: Sequence[tuple[bytes, bytes]] = ()
    """What is replaced in its output before that is written, and by what; longest first."""
    shapes: Mapping[str, Any] | None = None
    """Patterns of what is replaced by `***`: `token`, which begins with one of `starts`; `address`, which begins with
    `://`; and `marks`, pairs of a text to look for and the pattern that must match there. All are bytes."""

    def with_variable(self, variable: str, value: str) -> ProcessSpec:
        """The specification with one more variable for the program and its companion."""
        companion = self.companion and replace(self.companion, env={**self.companion.env, variable: value})
        return replace(self, env={**self.env, variable: value}, companion=companion)

    def to_message(self) -> dict[str, Any]:
        companion = self.companion
        return {
            "argv": list(self.argv),
            "env": dict(self.env),
            "cwd": str(self.cwd),
            "stdout": str(self.stdout),
            "stderr": str(self.stderr),
            "combined": str(self.combined),
            "usage_csv": str(self.usage_csv) if self.usage_csv else None,
            "timeout_s": float(self.timeout_s or 0),
            "grace_s": float(self.grace_s),
            "sample_hz": float(self.sample_hz),
            "cpus": list(self.cpus),
            "memory_mb": float(self.memory_mb or 0),
            "nice": self.nice,
            "mask": [list(pair) for pair in self.mask],
            "shapes": dict(self.shapes) if self.shapes else None,
            "freezer": str(self.freezer) if self.freezer else None,
            "gpus": self.gpus and [list(self.gpus.names), str(self.gpus.library), self.gpus.certain],
            "companion": companion
            and {
                "name": companion.name,
                "argv": list(companion.argv),
                "env": dict(companion.env),
                "cwd": str(companion.cwd),
                "log": str(companion.log),
                "ready": companion.ready,
                "timeout_s": companion.timeout_s,
                "attempts": companion.attempts,
            },
        }
