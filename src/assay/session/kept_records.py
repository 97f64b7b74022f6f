from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from assay.record import Record, SessionFolder
from assay.record.atomic_file import write_atomic
from assay.record.results_file import append_record
from assay.record.strict_json import encode
from assay.session.disk import Reserve


class KeptRecords:
    """The records of a session, in memory and on disk.

    A file that cannot be written (a full disk, a file that a program has put something else in the place of) costs
    nothing that is here: every later record, and the end of the session, tries the whole again.
    """

    def __init__(self, folder: SessionFolder, reserve: Reserve) -> None:
        self._folder = folder
        self._reserve = reserve
        self.problem = ""
        """Why records are not on disk now; nothing where they are."""

    def keep(self, record: Record, records: list[Record]) -> None:
        """`records`: all of the session, this one among them."""
        if not self.problem and not self._fails(lambda: append_record(self._folder.results, record)):
            return
        self.save(records)

    def save(self, records: list[Record]) -> None:
        """Writes all anew, in place of whatever is there."""
        results = self._folder.results
        if results.is_dir() and not results.is_symlink():
            with suppress(OSError):
                os.replace(results, results.with_name(f"{results.name}.not-ours"))
        text = "".join(f"{encode(record.to_json())}\n" for record in records)
        self.problem = self._fails(lambda: write_atomic(results, text))

    def keep_beside(self, path: Path, record: Record) -> str:
        """A second copy, in the entry's own folder. Why it could not be written, or nothing."""

        def write() -> None:
            path.parent.mkdir(parents=True, exist_ok=True)
            append_record(path, record, sync=False)

        return self._fails(write)

    def _fails(self, write: Callable[[], None]) -> str:
        try:
            self._reserve.writing(write)
        except OSError as error:
            return f"{error.strerror or error}: {error.filename or self._folder.results}"
        return ""
