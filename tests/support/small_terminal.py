from __future__ import annotations

import io
import re

_PART = re.compile(r"\x1b\[(\d*)([A-Za-z])|(\r)|(\n)|([^\x1b\r\n]+)")


class SmallTerminal(io.StringIO):
    """A terminal as far as Assay uses one: text, lines, going up and clearing. `lines` is what a person sees.

    What is too wide fails at once: a real one would wrap it, and the next clearing would miss a row.
    """

    def __init__(self, width: int = 80) -> None:
        super().__init__()
        self.width = width
        self.frames: list[list[str]] = []
        """What was to be seen after each write."""
        self._cells: list[list[tuple[str, str]]] = [[]]
        """Letters with the colour they have, line by line."""
        self._row = self._column = 0
        self._colour = ""

    @property
    def lines(self) -> list[str]:
        return ["".join(letter for letter, _ in row).rstrip() for row in self._cells]

    @property
    def painted(self) -> list[list[tuple[str, str]]]:
        return self._cells

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        for number, letter, back, line, plain in _PART.findall(text):
            if back:
                self._column = 0
            elif line:
                self._row, self._column = self._row + 1, 0
                self._cells += [[] for _ in range(self._row + 1 - len(self._cells))]
            elif plain:
                self._put(plain)
            elif letter == "A":
                self._row = max(0, self._row - int(number or 1))
            elif letter == "K":
                assert number == "2"
                self._cells[self._row] = []
            else:
                assert letter == "m", f"not known: {letter}"
                self._colour = "" if number in ("", "0") else number
        self.frames.append(self.lines)
        return len(text)

    def _put(self, plain: str) -> None:
        row = self._cells[self._row]
        row += [(" ", "")] * (self._column - len(row))
        row[self._column : self._column + len(plain)] = [(letter, self._colour) for letter in plain]
        self._column += len(plain)
        assert self._column <= self.width, "".join(letter for letter, _ in row)
