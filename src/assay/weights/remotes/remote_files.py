"""The files of a remote, wherever fsspec finds them. Whatever a service answers, one `DataError` says so.

A file that is not there is a FileNotFoundError, and one that is there already a FileExistsError: both are answers.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from assay.errors import AssayError, DataError, MissingExtra, UsageError
from assay.files.reading import SESSION, WEIGHTS_PART, RegularFile
from assay.weights.versions.commit import References, parse_references, seal_references, unseal_bytes

_WHOLE = frozenset(("s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "adl", "oss", "r2", "memory"))
"""Protocols by which a file appears whole or not at all; with any other it is renamed into its place."""


class RemoteFiles:
    def __init__(self, url: str) -> None:
        try:
            import fsspec
        except ImportError:
            raise MissingExtra("fsspec, which remotes need,", "weights") from None
        self.url = url
        try:
            self._files, self._root = fsspec.core.url_to_fs(url)
        except Exception as error:  # noqa: BLE001  (each of fsspec's services fails in its own way)
            raise UsageError(f"{url} cannot be reached: {error}") from None
        protocol = self._files.protocol
        self._whole = not _WHOLE.isdisjoint((protocol,) if isinstance(protocol, str) else protocol)

    @property
    def folder(self) -> Path | None:
        """Where the files are, if that is a folder of this machine."""
        from fsspec.implementations.local import LocalFileSystem

        return Path(self._root) if isinstance(self._files, LocalFileSystem) else None

    def path(self, *parts: str) -> str:
        return posixpath.join(self._root, *parts)

    @contextmanager
    def _answers(self, verb: str, *parts: str) -> Iterator[None]:
        try:
            yield
        except (FileNotFoundError, FileExistsError, AssayError):
            raise
        except Exception as error:  # noqa: BLE001  (see the module)
            why = str(error) or type(error).__name__
            raise DataError(f"{'/'.join((self.url, *parts))} cannot be {verb}: {why}") from None

    def exists(self, *parts: str) -> bool:
        with self._answers("looked at", *parts):
            self._files.invalidate_cache()
            return bool(self._files.exists(self.path(*parts)))

    def read(self, *parts: str, start: int | None = None, end: int | None = None) -> bytes:
        with self._answers("read", *parts):
            if self.folder is not None:
                with RegularFile(Path(self.path(*parts)), WEIGHTS_PART if end is not None else SESSION) as file:
                    return file.read() if end is None else file.part(start or 0, end)
            return bytes(self._files.cat_file(self.path(*parts), start=start, end=end))

    def size(self, *parts: str) -> int:
        with self._answers("read", *parts):
            size = self._files.size(self.path(*parts))
        if type(size) is not int:
            raise DataError(f"{'/'.join((self.url, *parts))} cannot be read: its size is not known")
        return size

    def create(self, data: bytes, *parts: str) -> None:
        """FileExistsError if it is there: of all who try at once, one succeeds, where the store sees to it."""
        with self._answers("written", *parts):
            self._make_folder(self.path(*parts))
            self._files.pipe_file(self.path(*parts), data, mode="create")

    def make(self) -> None:
        """The folder or bucket that everything is in."""
        with self._answers("made"), suppress(FileExistsError):
            self._files.makedirs(self._root, exist_ok=True)

    def _make_folder(self, path: str) -> None:
        if not self._whole:
            self._files.makedirs(posixpath.dirname(path), exist_ok=True)

    def write(self, data: bytes, *parts: str) -> None:
        with self._answers("written", *parts), self._place(*parts) as place:
            self._files.pipe_file(place, data)

    def upload(self, source: Path, *parts: str) -> None:
        with self._answers("written", *parts), self._place(*parts) as place:
            self._files.put_file(str(source), place)

    @contextmanager
    def _place(self, *parts: str) -> Iterator[str]:
        """Where to write so that nobody reads half of it."""
        target = self.path(*parts)
        if self._whole:
            yield target
            return
        temporary = self.path("tmp", uuid4().hex)
        for path in (target, temporary):
            self._make_folder(path)
        yield temporary
        self._files.mv(temporary, target)

    def names(self, folder: str) -> set[str]:
        with self._answers("listed", folder):
            self._files.invalidate_cache()
            try:
                listed = self._files.ls(self.path(folder), detail=False)
            except FileNotFoundError:
                return set()
        names = (posixpath.basename(str(path).rstrip("/")) for path in listed)
        return {name for name in names if name and name != folder}

    def remove(self, *parts: str) -> None:
        """Removes a file; no error if somebody was faster."""
        with self._answers("removed", *parts):
            try:
                self._files.rm_file(self.path(*parts))
            except FileNotFoundError:
                return


# The references of a repository in an object store: a file a version, each created once and never changed.
#
# Object stores cannot rename, but all of them can create a file only if it is not there (S3: `If-None-Match: *`). So
# who
# changes version 7 creates version 8: of several who try, one succeeds, and the others read again. The idea is Delta
# Lake's (Armbrust et al., "Delta Lake: High-Performance ACID Table Storage over Cloud Object Stores", VLDB 2020).

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
