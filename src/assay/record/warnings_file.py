"""`warnings.json`: what a benchmark program wants to be said of its run, a list of sentences."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from assay.record.writing.strict_json import encode
from assay.untrusted.json_text import read_json
from assay.untrusted.read_limit import RESULT
from assay.untrusted.unreadable import Unreadable
from assay.untrusted.writing import write_atomic

NAME = "warnings.json"
MOST = 20
LONGEST = 500
"""Characters of one of them that are kept."""


def write_warnings(folder: Path, warnings: Sequence[str]) -> None:
    if warnings:
        write_atomic(folder / NAME, encode(list(warnings), indent=2))
    else:
        (folder / NAME).unlink(missing_ok=True)


def read_warnings(folder: Path) -> list[str]:
    try:
        content = read_json(folder / NAME, RESULT)
    except FileNotFoundError:
        return []
    except Unreadable as error:
        return [f"{NAME} {error.reason}"]
    if not isinstance(content, list) or not all(isinstance(one, str) for one in content):
        return [f"{NAME} should hold a list of strings; it was not read"]
    more = [f"{NAME} has {len(content) - MOST} more"] if len(content) > MOST else []
    return [one if len(one) <= LONGEST else one[:LONGEST] + "…" for one in content[:MOST]] + more
