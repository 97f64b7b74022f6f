"""A repository in an object store, or anywhere else that fsspec reaches.

Any number push at once, each under a lease of its own: what they send has names that nobody else's content can have,
and the references are changed by `ReferenceLog`. Who collects announces it first; pushes that come then wait, and the
collector waits for those that are under way. Both look for the other after they have announced themselves, so that
one of two sees the other whatever the order.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

from assay.errors import DataError
from assay.weights.codec.codec_methods import FORMAT
from assay.weights.remotes.lease import Lease, await_end
from assay.weights.remotes.reference_log import ReferenceLog
from assay.weights.remotes.remote import Change, Remote
from assay.weights.remotes.remote_files import RemoteFiles
from assay.weights.versions.references import References
from assay.weights.versions.sealed import seal

WRITERS = "writers"
COLLECTOR = ("collector", "lease")
PATIENCE_S = 600.0
_ATTEMPTS = 1000


class BucketRemote(Remote):
    def __init__(self, files: RemoteFiles) -> None:
        super().__init__(files)
        self.log = ReferenceLog(files)
        self._lease: Lease | None = None

    @contextmanager
    def writing(self) -> Iterator[None]:
        if not self.exists():
            self.files.make()
        while True:
            await_end(self.files, PATIENCE_S, *COLLECTOR)
            lease = Lease(self.files, WRITERS, uuid4().hex)
            lease.take()
            with lease:
                if self.files.exists(*COLLECTOR):
                    continue
                self._lease = lease
                try:
                    yield
                finally:
                    self._lease = None
                return

    def init(self, config: dict[str, Any]) -> None:
        self.log.begin()
        try:
            self.files.create(seal({"format": FORMAT, "config": config}), "format")
        except FileExistsError:
            return

    def references(self) -> References:
        self.config()
        references = self.log.newest().references
        self._check()
        return references

    def change(self, change: Change) -> None:
        for _ in range(_ATTEMPTS):
            # While our lease is there nobody has collected, so whatever we sent and relied on is there, too. If it
            # is lost after this look, the collector has followed this version with one of its own.
            version = self.log.newest()
            self._check()
            if self.log.follow(version, change(version.references)):
                return
        raise DataError(f"{self.url} is being changed by others all the time; try again")

    def write_commit(self, data: bytes, commit_id: str) -> None:
        self._check()
        self.files.write(data, "commits", commit_id)

    def add_pack(self, pack: Path) -> None:
        self._check()
        self.files.upload(pack, "packs", pack.name)
        self._check()

    def _check(self) -> None:
        if self._lease is not None:
            self._lease.check()

    def fence(self) -> References:
        """Shuts out writers, for a collector: none that read the references before this can change them any more."""
        while True:
            version = self.log.newest()
            if self.log.follow(version, replace(version.references)):
                return version.references
