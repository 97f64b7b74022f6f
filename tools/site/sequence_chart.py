"""Sequence diagrams of the pages, drawn as SVG when the site is made: who calls whom, from top to bottom.

Reads what tools/trace_walks.py writes of Mermaid's language: calls `a->>b: words` and calls back `a-->>b: words`, each
with its number.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html import escape
from itertools import pairwise

_CALL = re.compile(r"(?P<caller>\w+)(?P<arrow>-->>|->>)(?P<callee>\w+): (?P<words>.+)$")
_PASSED_OVER = ("", "autonumber")
ROW, HEAD, LETTER, SIDE = 30, 34, 6.2, 14
"""Pixels: of a call, of the names above, of a letter, beside the outermost columns."""
NARROWEST = 70
"""Pixels between neighbouring columns that no words keep apart."""


@dataclass(frozen=True)
class Call:
    caller: str
    callee: str
    words: str
    back: bool
    """Whether the callee is under way already: drawn dashed."""


@dataclass
class SequenceChart:
    calls: list[Call] = field(default_factory=list)

    @classmethod
    def read(cls, text: str) -> SequenceChart:
        chart = cls()
        for line in map(str.strip, text.strip().splitlines()[1:]):
            found = _CALL.match(line)
            if found:
                back = found["arrow"] == "-->>"
                chart.calls.append(Call(found["caller"], found["callee"], found["words"], back))
            elif line not in _PASSED_OVER:
                raise ValueError(f"a line of a sequence diagram that is not drawn: {line!r}")
        return chart

    def columns(self) -> dict[str, float]:
        """The middle of each column, in the order of the first call; calls between neighbours have room for their
        words."""
        names = list(dict.fromkeys(name for call in self.calls for name in (call.caller, call.callee)))
        apart = {name: float(NARROWEST) for name in names[1:]}
        for one, other in pairwise(names):
            apart[other] = max(apart[other], (len(one) + len(other)) / 2 * LETTER + 24)
        for number, call in enumerate(self.calls, 1):
            left, right = sorted((names.index(call.caller), names.index(call.callee)))
            if right == left + 1:
                apart[names[right]] = max(apart[names[right]], len(_label(number, call)) * LETTER + 20)
        places = {names[0]: SIDE + len(names[0]) * LETTER / 2 + 12} if names else {}
        for one, other in pairwise(names):
            places[other] = places[one] + apart[other]
        return places

    def svg(self) -> str:
        places = self.columns()
        bottom = HEAD + len(self.calls) * ROW + 14
        drawn = [_column(name, x, bottom) for name, x in places.items()]
        ends = [x + len(name) * LETTER / 2 + 12 for name, x in places.items()]
        for number, call in enumerate(self.calls, 1):
            one, other = places[call.caller], places[call.callee]
            drawn.append(_arrow(one, other, HEAD + number * ROW, _label(number, call), call.back))
            ends.append(min(one, other) + 10 + len(_label(number, call)) * LETTER)
        head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {max(ends) + SIDE:.0f} {bottom}" '
        style = 'font-family="system-ui, sans-serif" font-size="12" role="img" aria-label="sequence diagram">'
        tip = '<defs><marker id="end" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
        tip += 'orient="auto"><path d="M0 0L8 4L0 8z" fill="#3f51b5"/></marker></defs>'
        return f"{head}{style}{tip}{''.join(drawn)}</svg>"


def _label(number: int, call: Call) -> str:
    return f"{number}. {call.words}"


def _column(name: str, x: float, bottom: int) -> str:
    wide = len(name) * LETTER + 20
    line = f'<path d="M{x:.0f} {HEAD - 4}V{bottom}" stroke="#c5cae9"/>'
    box = f'<rect x="{x - wide / 2:.0f}" y="4" width="{wide:.0f}" height="26" rx="6" fill="#eef1fb" stroke="#3f51b5"/>'
    return f'{line}{box}<text x="{x:.0f}" y="21" text-anchor="middle" fill="#222">{escape(name)}</text>'


def _arrow(one: float, other: float, y: int, label: str, back: bool) -> str:
    dashed = ' stroke-dasharray="4 3"' if back else ""
    end = other - 2 if other > one else other + 2
    line = f'<path class="call" d="M{one:.0f} {y}H{end:.0f}" stroke="#3f51b5"{dashed} marker-end="url(#end)"/>'
    # White behind the letters: the lines of other columns do not cross them.
    halo = 'paint-order="stroke" stroke="#fff" stroke-width="4"'
    place = f'x="{min(one, other) + 8:.0f}" y="{y - 6}"'
    return f'{line}<text {place} fill="#333" font-size="11" {halo}>{escape(label)}</text>'
