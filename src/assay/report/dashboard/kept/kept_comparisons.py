from __future__ import annotations

import threading
from collections.abc import Callable, Hashable

from assay.analysis import Comparison

_MOST = 100


class KeptComparisons:
    """Comparisons that requests have asked for. Each is made once, and one at a time.

    One over a long history takes seconds of one processor. Clients that ask for the same wait for the one that makes
    it, and those who ask for other pages share the processor with one comparison, not with sixteen. What is kept
    already is given without waiting for what is being made.
    """

    def __init__(self) -> None:
        self._kept: dict[Hashable, tuple[Comparison | None]] = {}
        self._making = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], Comparison | None]) -> Comparison | None:
        known = self._kept.get(key)
        if known is not None:
            return known[0]
        with self._making:
            known = self._kept.get(key)
            if known is None:
                known = (make(),)
                if len(self._kept) >= _MOST:
                    self._kept.clear()
                self._kept[key] = known
            return known[0]
