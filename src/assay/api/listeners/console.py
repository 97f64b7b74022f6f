from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self, TextIO

from assay.api.listeners.voice import Voice
from assay.record.secrecy.secrets import Masker
from assay.report.printable import printable
from assay.report.text.screen import PLAIN, Screen, height_of, is_terminal
from assay.report.text.text_width import columns
from assay.untrusted.writing import open_append

CLEAR_LINE = "\r\x1b[2K"
UP = "\x1b[1A"
_ESCAPES = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


class Console:
    """What a session says: lines on a stream and in session.log, warnings on standard error and in the log.

    A stream that is gone, full or closed is not written to again, and neither is such a log; what is left goes on.
    `troubles` is what could not be done beside the runs, for the summary.
    """

    def __init__(self, log: Path, masker: Masker, stream: TextIO | None = None, voice: Voice = Voice.NORMAL) -> None:
        self._masker = masker
        self._stream = None if voice is Voice.SILENT else stream or sys.stdout
        self._errors: TextIO | None = None if voice is Voice.SILENT else sys.stderr
        self.voice = voice
        self.live = self._stream is not None and voice is not Voice.QUIET and is_terminal(self._stream)
        self.troubles: list[str] = []
        self._region: tuple[str, ...] = ()
        self._log: TextIO | None = None
        try:
            self._log = open_append(log, errors="replace")
        except OSError as error:
            self._log_is_gone(error)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._log is not None:
            self._log.close()

    @property
    def screen(self) -> Screen:
        """The screen as it is now: a window may have another size than a moment ago."""
        return PLAIN if self._stream is None else Screen.of(self._stream)

    @property
    def height(self) -> int:
        return 0 if self._stream is None else height_of(self._stream)

    def say(self, text: str, *, painted: bool = False) -> None:
        """Says it on the screen and in the log. `painted`: it has colours of ours, and is printable already."""
        self.print(text, painted=painted)
        self.log(text)

    def print(self, text: str, *, painted: bool = False) -> None:
        """Says it on the screen alone."""
        text = self._masker.text(text)
        if not painted:
            text = printable(text, keep_lines=True)
        self._put(f"{self._erasing()}{text}\n{self._region_text()}")

    def log(self, text: str) -> None:
        """Writes it to session.log alone, without colours."""
        if self._log is None:
            return
        stamp = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        try:
            lines = _ESCAPES.sub("", self._masker.text(text)).split("\n")
            self._log.write("".join(f"{stamp} {printable(line)}\n" for line in lines if line))
            self._log.flush()
        except (OSError, ValueError) as error:
            self._log_is_gone(error)

    def note(self, text: str) -> None:
        text = f"warning: {printable(self._masker.text(text), keep_lines=True)}"
        if self._errors is not None:
            self._put(self._erasing())
            try:
                print(text, file=self._errors, flush=True)
            except (OSError, ValueError):
                self._errors = None
            self._put(self._region_text())
        self.log(text)

    def trouble(self, text: str) -> None:
        """Writes what could not be done to the log at once; the summary says it again."""
        self.troubles.append(printable(self._masker.text(text), keep_lines=True))
        self.log(f"warning: {self.troubles[-1]}")

    def say_troubles(self) -> None:
        """Says the troubles on the screen; the log has them already."""
        for trouble in self.troubles:
            self.print(f"warning: {trouble}", painted=True)

    def show(self, lines: Sequence[str]) -> None:
        """The live lines of a terminal, in place of the last ones; what is said stands above them. None of them may be
        wider than the screen."""
        if self.live:
            erasing = self._erasing()
            self._region = tuple(self._masker.text(line) for line in lines)
            self._put(erasing + self._region_text())

    def _erasing(self) -> str:
        """Takes the live lines away. In a window that has become narrower they stand on more rows."""
        if not self.live or not self._region:
            return ""
        width = self.screen.width or 80
        rows = sum(max(1, -(-columns(line) // width)) for line in self._region)
        return CLEAR_LINE + f"{UP}{CLEAR_LINE}" * (rows - 1)

    def _region_text(self) -> str:
        return "\n".join(self._region) if self.live else ""

    def _put(self, text: str) -> None:
        if self._stream is None or not text:
            return
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):  # ValueError: closed
            self._stream, self.live = None, False

    def _log_is_gone(self, error: Exception) -> None:
        self._log = None
        self.troubles.append(f"session.log could not be written: {error}")
