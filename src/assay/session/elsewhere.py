from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from assay.record import Record


@dataclass(frozen=True)
class Share:
    """How much of an entry is this process's, and what others have recorded of it."""

    records: Sequence[Record] = ()
    runs_here: bool = True
    """Whether this process is to run what has no record yet, or has given up waiting."""


class Elsewhere(Protocol):
    """Entries of a plan that another process may run for the same session."""

    def share(self, entry: str, give_up: Callable[[], bool]) -> Share:
        """Return who runs `entry`, once that is this process or another one has a result."""
        ...


class Nowhere:
    """A session of one process: everything is run here."""

    def share(self, entry: str, give_up: Callable[[], bool]) -> Share:
        return Share()
