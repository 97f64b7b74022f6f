from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from assay.record import Record


class Elsewhere(Protocol):
    """Entries of a plan that another process may run for the same session."""

    def results(self, entry: str, give_up: Callable[[], bool]) -> Sequence[Record]:
        """Waits for another process's results of `entry`; empty if this process is to run it, or has given up
        waiting."""
        ...


class Nowhere:
    """A session of one process: everything is run here."""

    def results(self, entry: str, give_up: Callable[[], bool]) -> Sequence[Record]:
        return ()
