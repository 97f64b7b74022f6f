"""The formats that repositories have had, and how each becomes the present one.

A format whose packs others could not read gives its packs another ending. So old and new packs stand beside each other
while a repository is rewritten, either version of Assay sees its own only, and `format` is the one file that switches.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from assay.weights.store import Tensor


class OldTensors(Protocol):
    """The packs of an older format, by the rules of that format."""

    def read(self, digest: bytes) -> Tensor: ...


@dataclass(frozen=True)
class Migration:
    """How a repository of one older format becomes one of the present format."""

    change: str
    """What the present format has that the older one has not, for a person."""
    ending: str = ".pack"
    """Ending of the older format's pack files."""
    open: Callable[[Path], OldTensors] | None = None
    """Given the folder of packs. None: the packs stay, since the present format reads them as they are."""


MIGRATIONS: Mapping[int, Migration] = {
    4: Migration("differences at fixed lengths"),
}
"""Migrations, by the older format's number. Formats 1 to 3 lived for some hours each before anything was released, and
changed what the bytes of a stream mean; no code reads them any more."""
