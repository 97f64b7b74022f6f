"""A lock file: which versions, with which hashes, and which of them we ask for ourselves."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Locked:
    name: str
    hashes: frozenset[str]
    ours: bool
    """Whether pyproject.toml names it, and not only something that pyproject.toml names."""


def locked(path: Path) -> dict[str, Locked]:
    """Locked packages by pin, which is name, version and which Pythons it is for."""
    found = {}
    # A pin begins at the margin; its hashes, and who asked for it, are indented below it.
    for block in re.split(r"\n(?=\w)", path.read_text(encoding="utf-8")):
        pin, _, below = block.partition(" \\\n")
        if not pin.startswith("#"):
            hashes = frozenset(re.findall(r"--hash=(\S+)", below))
            found[pin] = Locked(pin.partition("==")[0], hashes, "assay-bench (pyproject.toml)" in below)
    return found
