from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import Any

from assay.errors import DataError
from assay.weights.peers.file_stores import VersionedFileStore


class XetStore(VersionedFileStore):
    """Hugging Face's Xet by its own library, with a folder in place of the service.

    Files are cut where a rolling hash (Gearhash) of the content says so, into chunks of 64 KiB on average and of 8 to
    128 KiB, after https://huggingface.co/docs/xet/chunking; the same chunk is kept once, and chunks are compressed.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        # Otherwise it logs into the user's own folder.
        os.environ.setdefault("HF_XET_LOG_DEST", os.devnull)
        import hf_xet

        self._library: Any = hf_xet
        self._session: Any = hf_xet.XetSession()
        self._endpoint = f"local://{self.path.absolute()}"

    def keep(self, message: str) -> str:
        with self._answers(), self._session.new_upload_commit(endpoint=self._endpoint) as upload:
            kept = upload.start_upload_file(str(self.file.absolute()), sha256=self._library.SKIP_SHA256)
        info = kept.result().xet_info
        return f"{info.hash}-{info.file_size}"

    def fetch(self, ref: str) -> None:
        known = re.fullmatch(r"([0-9a-f]{64})-(\d+)", ref)
        if known is None:
            raise DataError(f"{self.path}: {ref!r} is not the name of a version")
        info = self._library.XetFileInfo(known[1], int(known[2]))
        with self._answers(), self._session.new_file_download_group(endpoint=self._endpoint) as download:
            download.start_download_file(info, str(self.file.absolute()))

    def close(self) -> None:
        """What a commit was put together in is of no use after it."""
        shutil.rmtree(self.path / "xet" / "shard-session", ignore_errors=True)

    def _answers(self) -> _Answers:
        return _Answers()


class _Answers:
    """What the library raises is its answer, in one line."""

    def __enter__(self) -> None: ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: object) -> None:
        if isinstance(error, Exception):
            raise DataError(f"xet: {' '.join(str(error).split())[:300]}") from None
