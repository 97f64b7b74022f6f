"""Flow charts of the pages, drawn as SVG when the site is made: no script from elsewhere draws them in the browser.

Reads what our pages use of Mermaid's language: nodes with labels, chains, `&`, labelled and dotted arrows. Nodes stand
in layers by their longest way from a start; arrows that lead back do not count.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from html import escape

_ARROW = re.compile(r"\s*(?:--\s+(?P<said>[^-]+?)\s+-->|-\.\s*(?P<dotted>[^.]+?)\s*\.->|(?P<plain>-->|-\.->|==>))\s*")
_NODE = re.compile(r"(?P<id>\w+)\s*(?P<label>[\[({].*[\])}])?$")
STEP, GAP, HEIGHT, LETTER = 74, 26, 30, 6.9
"""Pixels between layers, between neighbours, of a box, and of a letter."""


@dataclass
class FlowChart:
    down: bool
    labels: dict[str, str] = field(default_factory=dict)
    arrows: list[tuple[str, str, str]] = field(default_factory=list)

    @classmethod
    def read(cls, text: str) -> FlowChart:
        first, *lines = text.strip().splitlines()
        chart = cls(down=first.split()[1] in ("TD", "TB"))
        for line in lines:
            chart._read_chain(line.strip())
        return chart

    def _read_chain(self, line: str) -> None:
        before: list[str] = []
        said, at = "", 0
        for arrow in [*_ARROW.finditer(line), None]:
            piece = line[at : arrow.start() if arrow else len(line)]
            here = [self._node(word) for word in piece.split("&")]
            self.arrows += [(one, other, said) for one in before for other in here]
            if arrow:
                before, said, at = here, arrow["said"] or arrow["dotted"] or "", arrow.end()

    def _node(self, word: str) -> str:
        found = _NODE.match(word.strip())
        assert found, f"a node of a flow chart that is not read: {word!r}"
        if found["label"] or found["id"] not in self.labels:
            self.labels[found["id"]] = (found["label"] or found["id"]).strip("[](){} ")
        return found["id"]

    def layers(self) -> list[list[str]]:
        onward: dict[str, list[str]] = defaultdict(list)
        for one, other, _ in self.arrows:
            onward[one].append(other)
        depth: dict[str, int] = dict.fromkeys(self.labels, 0)
        under_way: set[str] = set()

        def visit(node: str, at: int) -> None:
            if node in under_way or (at < depth[node]) or (at and at == depth[node]):
                return
            depth[node] = at
            under_way.add(node)
            for other in onward[node]:
                visit(other, at + 1)
            under_way.discard(node)

        arrived = {other for _, other, _ in self.arrows}
        for node in [one for one in self.labels if one not in arrived] or list(self.labels)[:1]:
            visit(node, 0)
        found: list[list[str]] = [[] for _ in range(max(depth.values()) + 1)]
        for node, at in depth.items():
            found[at].append(node)
        return found

    def svg(self) -> str:
        wide = {node: len(label) * LETTER + 20 for node, label in self.labels.items()}
        places = self._down(wide) if self.down else self._right(wide)
        width = max(x + wide[node] / 2 for node, (x, _) in places.items()) + 60
        height = max(y for _, y in places.values()) + HEIGHT
        drawn = [self._arrow(places, wide, *arrow) for arrow in self.arrows]
        drawn += [_box(*places[node], wide[node], label) for node, label in self.labels.items()]
        head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" class="flowchart" '
        tip = (
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        )
        tip += '<path d="M0 0L8 4L0 8z" fill="#777"/></marker></defs>'
        style = 'font-family="system-ui, sans-serif" font-size="12" role="img" aria-label="flow chart">'
        return f"{head}{style}{tip}{''.join(drawn)}</svg>"

    def _down(self, wide: dict[str, float]) -> dict[str, tuple[float, float]]:
        rows = self.layers()
        widest = max(sum(wide[node] + GAP for node in row) for row in rows)
        places: dict[str, tuple[float, float]] = {}
        for at, row in enumerate(rows):
            x = (widest - sum(wide[node] + GAP for node in row)) / 2 + GAP
            for node in row:
                places[node] = (x + wide[node] / 2, 20 + at * (STEP - 14))
                x += wide[node] + GAP
        return places

    def _right(self, wide: dict[str, float]) -> dict[str, tuple[float, float]]:
        columns = self.layers()
        tallest = max(len(column) for column in columns)
        places: dict[str, tuple[float, float]] = {}
        x = 10.0
        for column in columns:
            most = max(wide[node] for node in column)
            top = (tallest - len(column)) * (HEIGHT + GAP) / 2 + 20
            for at, node in enumerate(column):
                places[node] = (x + most / 2, top + at * (HEIGHT + GAP))
            x += most + STEP
        return places

    def _arrow(
        self, places: dict[str, tuple[float, float]], wide: dict[str, float], one: str, other: str, said: str
    ) -> str:
        (x1, y1), (x2, y2) = places[one], places[other]
        if self.down:
            y1, y2 = (y1 + HEIGHT / 2, y2 - HEIGHT / 2) if y2 > y1 else (y1, y2)
            # An arrow that leads back, or past other layers, goes round them.
            bend = 0 if STEP > y2 - y1 > 0 else 90 + wide[one] / 2
            middle = (y1 + y2) / 2
            path = f"M{x1:.0f} {y1:.0f}C{x1 + bend:.0f} {middle:.0f} {x2 + bend:.0f} {middle:.0f} {x2:.0f} {y2:.0f}"
        else:
            x1, x2 = x1 + wide[one] / 2, x2 - wide[other] / 2
            path = f"M{x1:.0f} {y1:.0f}C{(x1 + x2) / 2:.0f} {y1:.0f} {(x1 + x2) / 2:.0f} {y2:.0f} {x2:.0f} {y2:.0f}"
        line = f'<path d="{path}" fill="none" stroke="#777" marker-end="url(#tip)"/>'
        place = f'x="{(x1 + x2) / 2 + 4:.0f}" y="{(y1 + y2) / 2:.0f}"'
        word = f'<text {place} fill="#666" font-size="11">{escape(said)}</text>'
        return line + (word if said else "")


def _box(x: float, y: float, width: float, label: str) -> str:
    rect = f'<rect x="{x - width / 2:.0f}" y="{y - HEIGHT / 2:.0f}" width="{width:.0f}" height="{HEIGHT}" rx="6" '
    text = f'<text x="{x:.0f}" y="{y + 4:.0f}" text-anchor="middle" fill="#222">{escape(label)}</text>'
    return f'{rect}fill="#eef1fb" stroke="#3f51b5"/>{text}'
