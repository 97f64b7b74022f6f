from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from assay.report.svg.axis import Axis

SIDE = 1000
"""Width and height of the box that is drawn in, in units."""
MOST_VALUES = 2000
_STRETCHES = 500

Place = tuple[int, int]
"""Place of a point: parts of a unit from the left, whole units from the top."""


@dataclass(frozen=True)
class Polyline:
    """A line as it is drawn: what follows on each other without a gap is one piece."""

    pieces: tuple[tuple[Place, ...], ...]
    parts: int = 1
    """Parts of a unit that places from the left count in: a wide chart shows more than a thousand places."""

    @classmethod
    def of(cls, x: Sequence[float], values: Sequence[float | None], across: Axis, up: Axis, parts: int = 1) -> Polyline:
        places = [
            (round(across.share(at) * SIDE * parts), None if value is None else round((1 - up.share(value)) * SIDE))
            for at, value in zip(x, values, strict=True)
        ]
        if len(places) > MOST_VALUES:
            places = list(_thin(places, SIDE * parts // _STRETCHES))
        pieces = []
        for there, group in groupby(places, key=lambda place: place[1] is not None):
            if there:
                pieces.append(tuple((left, top) for left, top in group if top is not None))
        return cls(tuple(pieces), parts)

    @property
    def line(self) -> str:
        """Each place as the way from the one before: half as long as where it is."""
        text = []
        for piece in self.pieces:
            (left, top), *rest = _without_flats(piece)
            if rest:
                text.append(f"M{self._across(left)} {top}l")
            for index, (x, y) in enumerate(rest):
                text.append(f"{' ' if index else ''}{self._across(x - left)}{'' if y < top else ' '}{y - top}")
                left, top = x, y
        return "".join(text)

    def dots(self, everywhere: bool) -> str:
        """Lines without length: their round ends stay round however the box is stretched. A value between two gaps has
        no line, and would not be seen without one."""
        shown = (place for piece in self.pieces if everywhere or len(piece) == 1 for place in piece)
        text, before = [], (0, 0)
        for left, top in shown:
            gap = "" if top < before[1] else " "
            text.append(f"m{self._across(left - before[0])}{gap}{top - before[1]}h0")
            before = left, top
        return "".join(text)

    def _across(self, number: int) -> str:
        return f"{number / self.parts:g}"


def _thin(places: Iterable[tuple[int, int | None]], width: int) -> Iterator[tuple[int, int | None]]:
    """The first, the lowest, the highest and the last of each stretch, so that no spike is lost. A gap inside a stretch
    is narrower than can be seen; one that reaches its edge is kept."""
    for _, group in groupby(places, key=lambda place: place[0] // width):
        stretch = list(group)
        there = [i for i, (_, top) in enumerate(stretch) if top is not None]
        tops = [top for _, top in stretch if top is not None]
        kept = {0, len(stretch) - 1}
        if there:
            kept |= {there[0], there[-1], there[tops.index(min(tops))], there[tops.index(max(tops))]}
        yield from (stretch[i] for i in sorted(kept))


def _without_flats(piece: Sequence[Place]) -> list[Place]:
    """Where a line stays as it is, its ends tell all."""
    inner = [b for a, b, c in zip(piece, piece[1:], piece[2:], strict=False) if not a[1] == b[1] == c[1]]
    return [piece[0], *inner, *piece[1:][-1:]]
