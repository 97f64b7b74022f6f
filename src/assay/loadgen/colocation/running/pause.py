from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from time import monotonic_ns

from assay.loadgen.board import PAUSED_NS, Board
from assay.loadgen.colocation.limits import ControlGroup
from assay.process.freezer import continue_tree, set_frozen, stop_tree
from assay.process.supervised import Supervised


class Pause:
    """A pipeline's processes kept standing still, all of them, and for how long in all."""

    def __init__(self, board: Board, supervised: Supervised, group: ControlGroup) -> None:
        self._board = board
        self._supervised = supervised
        self._group = group
        self._freezer: Path | None = None
        self.since = 0
        """When the pause began, on the monotonic clock in nanoseconds; 0 while the pipeline runs."""

    @property
    def seconds(self) -> float:
        under_way = monotonic_ns() - self.since if self.since else 0
        return (self._board.page[PAUSED_NS] + under_way) / 1e9

    def begin(self) -> None:
        """Raises OSError where neither the freezer nor signals are permitted."""
        # Noted before it is done: an interrupt between the two must not leave the pipeline standing.
        self.since = monotonic_ns()
        self._freezer = self._find_freezer()
        try:
            if self._freezer is not None:
                set_frozen(str(self._freezer), True)
            else:
                stop_tree(self._supervised.tree)
        except OSError:
            self.end()
            raise

    def end(self) -> None:
        if not self.since:
            return
        # Counted before it goes on: its time limit, which may have passed meanwhile, looks at this number then.
        self._board.page[PAUSED_NS] += monotonic_ns() - self.since
        # A group or a tree that is gone has nothing left that could stand still.
        with suppress(OSError):
            if self._freezer is not None:
                set_frozen(str(self._freezer), False)
            else:
                continue_tree(self._supervised.tree)
        self.since = 0

    def _find_freezer(self) -> Path | None:
        """The freezer of the group that its processes are in; None where they were not permitted to enter one."""
        freezer = self._group.freezer
        with suppress(OSError):
            if freezer is not None and str(self._supervised.pid) in _inside(freezer.parent):
                return freezer
        return None


def _inside(group: Path) -> list[str]:
    return (group / "cgroup.procs").read_text().split()
