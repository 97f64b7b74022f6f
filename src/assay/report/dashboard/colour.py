from __future__ import annotations

import zlib
from collections.abc import Iterable

COLOURS = 8
"""Number of colours in the style sheet: `--series-1` to `--series-8`."""


def colours(names: Iterable[str]) -> dict[str, int]:
    """A number from 1 a name. It follows from the name, so that a name keeps its colour from page to page and whatever
    else is shown; only of names that would share one, all but the first take the next that is free."""
    given: dict[str, int] = {}
    for name in names:
        if name in given:
            continue
        wanted = zlib.crc32(name.encode("utf-8", "replace")) % COLOURS
        taken = set(given.values())
        free = (at for step in range(COLOURS) if (at := (wanted + step) % COLOURS + 1) not in taken)
        given[name] = next(free, wanted + 1)
    return given
