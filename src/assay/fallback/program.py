"""Stand-ins for a program that Assay starts, in whichever interpreter it runs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from assay.fallback.stand_ins import NOTES, PROGRAMS, STAND_INS
from assay.untrusted.read_limit import LOG
from assay.untrusted.text_file import last_lines
from assay.untrusted.unreadable import Unreadable

FOLDER = Path(__file__).parent / "path"
_MOST_NOTES = 65536
"""Bytes of notes that are looked at: every process of a program adds its own."""


def with_stand_ins(environment: Mapping[str, str], notes: Path | None = None) -> dict[str, str]:
    """The variables, with the folder at the end of PYTHONPATH: what the user has put there stays, and comes first.
    `notes`: where the program's interpreter says what it used."""
    before = environment.get("PYTHONPATH", "")
    path = before if str(FOLDER) in before.split(os.pathsep) else f"{before}{os.pathsep if before else ''}{FOLDER}"
    return {**environment, "PYTHONPATH": path, **({} if notes is None else {NOTES: str(notes)})}


def read_stand_ins(notes: Path) -> tuple[str, ...]:
    try:
        lines = last_lines(notes, LOG, _MOST_NOTES)
    except (FileNotFoundError, Unreadable):
        return ()
    return tuple(sorted(set(lines) & {*STAND_INS, *PROGRAMS}))
