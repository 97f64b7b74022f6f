from __future__ import annotations

import threading
from collections.abc import Callable, Hashable

from assay.analysis import Comparison

_MOST = 100


class KeptComparisons:
    """Comparisons that requests have asked for. Each is made once, and one at a time.

    One over a long history takes seconds of one processor. Clients that ask for the same wait for the one that makes
    it, and those who ask for other pages share the processor with one comparison, not with sixteen.
    """

    def __init__(self) -> None:
        self._kept: dict[Hashable, Comparison | None] = {}
        self._making = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], Comparison | None]) -> Comparison | None:
        with self._making:
            if key not in self._kept:
                made = make()
                if len(self._kept) >= _MOST:
                    self._kept.clear()
                self._kept[key] = made
            return self._kept[key]
