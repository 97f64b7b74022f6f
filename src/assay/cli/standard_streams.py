"""Standard output and error whose other end may go away, be full or never have been there.

What a command does must not depend on who reads it: `assay run | head -1` runs to its end. So a write that fails is
remembered and what follows is dropped; `main` asks at the end.
"""

from __future__ import annotations

import io
import os
import re
import sys
from typing import TextIO

_CONTROL = re.compile(
    r"(?P<own>\x1b\[(?:0|1|2|3[1-6])m|(?:\x1b\[1A)?\r\x1b\[2?K)|[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]"
)


class StandardStream(io.RawIOBase):
    """A descriptor that is written to until that fails; `failure` is why it did."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self.failure: OSError | None = None

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._descriptor

    def isatty(self) -> bool:
        return os.isatty(self._descriptor)

    def write(self, data: bytes) -> int:  # type: ignore[override]
        if self.failure is None:
            try:
                return os.write(self._descriptor, data)
            except OSError as error:
                self.failure = error
        return len(data)

    def text(self, like: TextIO, errors: str) -> io.TextIOWrapper:
        buffered = io.BufferedWriter(self)  # type: ignore[type-var]  # its stubs ask for an open file
        lines = self.isatty() or self._descriptor == 2
        kind = ScreenText if lines else io.TextIOWrapper
        return kind(buffered, getattr(like, "encoding", None) or "utf-8", errors, line_buffering=lines)


class ScreenText(io.TextIOWrapper):
    """Text for a person: of control characters only our own colours and the clearing of a line pass as they are.

    The last guard. Names and messages of others are made printable where they are put into text, which drops their
    colours too; what goes into a file or another program as data is not touched here.
    """

    def write(self, text: str) -> int:
        super().write(text if text.isprintable() else _CONTROL.sub(_visible, text))
        return len(text)


def _visible(found: re.Match[str]) -> str:
    code = ord(found[0][0])
    return found["own"] or (f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}")


def take_standard_streams() -> StandardStream:
    """Puts them in place of `sys.stdout` and `sys.stderr`; standard output, to be asked at the end."""
    output, error = StandardStream(1), StandardStream(2)
    _fill(0)
    output.failure, error.failure = _fill(1), _fill(2)
    # A terminal that cannot show a sign gets a stand-in for it, not a crash.
    sys.stdout, sys.stderr = output.text(sys.stdout, "replace"), error.text(sys.stderr, "replace")
    return output


def _fill(descriptor: int) -> OSError | None:
    """A closed descriptor would be given to the next file that is opened: a database, and a program's output in it."""
    try:
        os.fstat(descriptor)
    except OSError as error:
        nowhere = os.open(os.devnull, os.O_RDWR)
        if nowhere != descriptor:
            os.dup2(nowhere, descriptor)
            os.close(nowhere)
        os.set_inheritable(descriptor, True)
        return error
    return None
