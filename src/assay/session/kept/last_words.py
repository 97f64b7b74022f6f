from __future__ import annotations

from pathlib import Path

from assay.record.writing.shortened import shorten
from assay.untrusted.read_limit import LOG
from assay.untrusted.text_file import last_lines
from assay.untrusted.unreadable import Unreadable

_LOOKED_AT = 1 << 15
_LONGEST = 400
_TRACEBACK = "Traceback (most recent call last):"


def last_words(log: Path, lines: int = 1) -> list[str]:
    """The last lines of a log that say something; where it ends with a traceback, what follows its frames.

    That is the exception's own message, which may have several lines and say what matters in the first.
    """
    try:
        found = last_lines(log, LOG, _LOOKED_AT)
    except (FileNotFoundError, Unreadable):
        return []
    said = _after_traceback(found) or [line for line in found if line.strip()][-lines:]
    plain = ["".join(letter for letter in line.strip() if letter.isprintable()) for line in said]
    return [shorten(line, _LONGEST) for line in plain if line]


def _after_traceback(lines: list[str]) -> list[str]:
    begun = max((at for at, line in enumerate(lines) if line.strip() == _TRACEBACK), default=None)
    if begun is None:
        return []
    frames = 1 + begun
    while frames < len(lines) and (not lines[frames].strip() or lines[frames][0].isspace()):
        frames += 1
    return lines[frames:]
