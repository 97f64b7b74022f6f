from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass

_MOST_PAGES = 300
_MOST_BYTES = 64 * 2**20
_LOCKS = 32


@dataclass(frozen=True)
class KeptPage:
    """An answer as it is sent."""

    status: int
    content: bytes
    lasting: bool = True
    """False: it shows what changes with time, such as a session that runs."""


class KeptPages:
    """Pages as they were sent, each until what it rests on has changed: its `state` says so.

    Clients that ask for the same at once wait for the first of them, so that sixteen do not make sixteen.
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[Hashable, tuple[Hashable, KeptPage]] = OrderedDict()
        self._bytes = 0
        self._guard = threading.Lock()
        self._making = [threading.Lock() for _ in range(_LOCKS)]

    def get(self, key: Hashable, state: Hashable, make: Callable[[], KeptPage]) -> KeptPage:
        known = self._find(key, state)
        if known is not None:
            return known
        with self._making[hash(key) % _LOCKS]:
            known = self._find(key, state)
            if known is None:
                known = make()
                if known.lasting:
                    self._keep(key, state, known)
            return known

    def _find(self, key: Hashable, state: Hashable) -> KeptPage | None:
        with self._guard:
            known = self._kept.get(key)
            if known is None or known[0] != state:
                return None
            self._kept.move_to_end(key)
            return known[1]

    def _keep(self, key: Hashable, state: Hashable, page: KeptPage) -> None:
        with self._guard:
            self._drop(key)
            self._kept[key] = state, page
            self._bytes += len(page.content)
            while self._kept and (len(self._kept) > _MOST_PAGES or self._bytes > _MOST_BYTES):
                self._drop(next(iter(self._kept)))

    def _drop(self, key: Hashable) -> None:
        known = self._kept.pop(key, None)
        if known is not None:
            self._bytes -= len(known[1].content)
