from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

from assay.errors import DataError
from assay.files.reading import check_own_folders
from assay.weights.codec.codec_methods import FORMAT
from assay.weights.remotes.bucket import BucketRemote
from assay.weights.remotes.remote import Change, Remote
from assay.weights.remotes.remote_files import RemoteFiles
from assay.weights.repository_disk import FOLDERS, RepositoryDisk, WriterLock
from assay.weights.versions.commit import References, read_references, seal, write_references

PATIENCE_S = 600.0
"""A push waits longer than a commit does: what it waits for may be somebody else's push of a whole model."""


class FolderRemote(Remote):
    """A repository in a folder of this machine, written as its owner writes it: under its lock, synced, renamed.

    So pushes, commits and collections of one repository take turns, and the kernel frees the lock of a dead writer.
    """

    def __init__(self, files: RemoteFiles, folder: Path) -> None:
        super().__init__(files)
        self._folder, self._disk = folder, RepositoryDisk()
        self._temporary = folder / "tmp"
        self._lock = WriterLock(folder / "lock", PATIENCE_S)

    @contextmanager
    def writing(self) -> Iterator[None]:
        self._make()
        with self._lock:
            yield

    def _make(self) -> None:
        try:
            check_own_folders(self._folder, FOLDERS)
            for name in FOLDERS:
                (self._folder / name).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise DataError(f"{self._folder} cannot be written: {error.strerror}") from None

    def init(self, config: dict[str, Any]) -> None:
        if not self.exists():
            self._disk.sync_folder(self._folder)
            write_references(self._disk, self._folder / "refs", self._temporary / uuid4().hex, References())
            value = seal({"format": FORMAT, "config": config})
            self._disk.write_file(self._temporary / uuid4().hex, self._folder / "format", value)

    def references(self) -> References:
        self.config()
        return read_references(self._folder / "refs")

    def change(self, change: Change) -> None:
        path = self._folder / "refs"
        write_references(self._disk, path, self._temporary / uuid4().hex, change(self.references()))

    def write_commit(self, data: bytes, commit_id: str) -> None:
        self._disk.write_file(self._temporary / uuid4().hex, self._folder / "commits" / commit_id, data)

    def add_pack(self, pack: Path) -> None:
        temporary = self._temporary / f"{uuid4().hex}.pack"
        self._disk.copy_file(pack, temporary, self._folder / "packs" / pack.name)


def open_remote(url: str) -> Remote:
    files = RemoteFiles(url)
    return BucketRemote(files) if files.folder is None else FolderRemote(files, files.folder)
