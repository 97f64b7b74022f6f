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
        self.lines: list[str] = [""]
        self.frames: list[list[str]] = []
        """What was to be seen after each write."""
        self._row = self._column = 0

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        for number, letter, back, line, plain in _PART.findall(text):
            if back:
                self._column = 0
            elif line:
                self._row, self._column = self._row + 1, 0
                self.lines += [""] * (self._row + 1 - len(self.lines))
            elif plain:
                now = self.lines[self._row].ljust(self._column)
                self.lines[self._row] = now[: self._column] + plain + now[self._column + len(plain) :]
                self._column += len(plain)
                assert self._column <= self.width, self.lines[self._row]
            elif letter == "A":
                self._row = max(0, self._row - int(number or 1))
            elif letter == "K":
                assert number == "2"
                self.lines[self._row] = ""
            else:
                assert letter == "m", f"not known: {letter}"
        self.frames.append([line.rstrip() for line in self.lines])
        return len(text)
