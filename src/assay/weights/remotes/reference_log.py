"""The references of a repository in an object store: a file a version, each created once and never changed.

Object stores cannot rename, but all of them can create a file only if it is not there (S3: `If-None-Match: *`). So who
changes version 7 creates version 8: of several who try, one succeeds, and the others read again. The idea is Delta
Lake's (Armbrust et al., "Delta Lake: High-Performance ACID Table Storage over Cloud Object Stores", VLDB 2020).
"""

from __future__ import annotations

from dataclasses import dataclass

from assay.errors import DataError
from assay.weights.remotes.remote_files import RemoteFiles
from assay.weights.versions.references import References, parse_references, seal_references
from assay.weights.versions.sealed import unseal_bytes

FOLDER = "references"
_DIGITS = 12
_KEPT = 32
_PATIENCE = 8


@dataclass(frozen=True)
class Version:
    number: int
    """Zero is the file `refs`, which older remotes have."""
    references: References


class ReferenceLog:
    def __init__(self, files: RemoteFiles) -> None:
        self._files = files

    def begin(self) -> None:
        """The first version, unless there is one."""
        if not self._numbers() and not self._files.exists("refs"):
            try:
                self._files.create(seal_references(References()), *_place(1))
            except FileExistsError:
                return

    def newest(self) -> Version:
        for _ in range(_PATIENCE):
            number = max(self._numbers(), default=0)
            place = _place(number)
            where = "/".join((self._files.url, *place))
            try:
                return Version(number, parse_references(where, unseal_bytes(where, self._files.read(*place))))
            except FileNotFoundError:
                continue
        raise DataError(f"{self._files.url}/{FOLDER} has no version of the references that can be read")

    def follow(self, version: Version, references: References) -> bool:
        """False if somebody else changed that version first."""
        try:
            self._files.create(seal_references(references), *_place(version.number + 1))
        except FileExistsError:
            return False
        # Old versions go in order: while the one before is there, ours was never taken and removed again.
        if not self._files.exists(*_place(version.number)):
            self._files.remove(*_place(version.number + 1))
            return False
        return True

    def forget_old(self) -> None:
        for number in sorted(self._numbers())[:-_KEPT]:
            self._files.remove(*_place(number))

    def _numbers(self) -> set[int]:
        names = self._files.names(FOLDER)
        return {int(name) for name in names if len(name) == _DIGITS and name.isascii() and name.isdigit()}


def _place(number: int) -> tuple[str, ...]:
    return (FOLDER, f"{number:0{_DIGITS}d}") if number else ("refs",)
