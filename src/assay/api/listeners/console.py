from __future__ import annotations

import re
import sys
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self, TextIO

from assay.record.secrets import Masker
from assay.report.printable import printable

CLEAR_LINE = "\r\x1b[2K"
_ESCAPES = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


class Console:
    """What a session says: lines on a stream and in session.log, warnings on standard error and in the log.

    A stream that is gone, full or closed is not written to again, and neither is such a log; what is left goes on.
    `troubles` is what could not be done beside the runs, for the summary.
    """

    def __init__(self, log: Path, masker: Masker, stream: TextIO | None = None, quiet: bool = False) -> None:
        self._masker = masker
        self._stream = None if quiet else stream or sys.stdout
        self._errors: TextIO | None = None if quiet else sys.stderr
        self.live = self._stream is not None and _is_terminal(self._stream)
        self.troubles: list[str] = []
        self._log: TextIO | None = None
        try:
            self._log = log.open("a", encoding="utf-8", errors="replace")
        except OSError as error:
            self._log_is_gone(error)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._log is not None:
            self._log.close()

    def say(self, text: str, *, painted: bool = False) -> None:
        """`painted`: with colours of ours, and printable already."""
        text = self._masker.text(text)
        if not painted:
            text = printable(text, keep_lines=True)
        self._print(f"{CLEAR_LINE if self.live else ''}{text}\n")
        self._write(text)

    def note(self, text: str) -> None:
        text = f"warning: {printable(self._masker.text(text), keep_lines=True)}"
        if self._errors is not None:
            try:
                print(f"{CLEAR_LINE if self.live else ''}{text}", file=self._errors, flush=True)
            except (OSError, ValueError):
                self._errors = None
        self._write(text)

    def trouble(self, text: str) -> None:
        """Written down at once, and told in the summary."""
        self.troubles.append(printable(self._masker.text(text), keep_lines=True))
        self._write(f"warning: {self.troubles[-1]}")

    def say_troubles(self) -> None:
        """The log has them already."""
        for trouble in self.troubles:
            self._print(f"{CLEAR_LINE if self.live else ''}warning: {trouble}\n")

    def show(self, line: str) -> None:
        """The one live line of a terminal, which the next thing said takes away again."""
        if self.live:
            self._print(CLEAR_LINE + line)

    def _print(self, text: str) -> None:
        if self._stream is None:
            return
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):  # ValueError: closed
            self._stream, self.live = None, False

    def _write(self, text: str) -> None:
        if self._log is None:
            return
        stamp = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        try:
            lines = _ESCAPES.sub("", text).split("\n")
            self._log.write("".join(f"{stamp} {printable(line)}\n" for line in lines if line))
            self._log.flush()
        except (OSError, ValueError) as error:
            self._log_is_gone(error)

    def _log_is_gone(self, error: Exception) -> None:
        self._log = None
        self.troubles.append(f"session.log could not be written: {error}")


def _is_terminal(stream: TextIO) -> bool:
    try:
        return stream.isatty()
    except (OSError, ValueError):
        return False
