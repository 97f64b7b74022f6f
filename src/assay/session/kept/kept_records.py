from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from assay.record import Record, SessionFolder
from assay.record.results_file import append_record
from assay.record.writing.strict_json import encode
from assay.session.folders.disk import Reserve
from assay.session.folders.own_file import make_way
from assay.untrusted.writing import write_atomic


class KeptRecords:
    """The records of a session, in memory and on disk: its own file, which decides what was finished, and a copy beside
    each entry.

    A program can reach both. What it puts in place of the session's file is moved aside, and a file that it changed or
    removed is written anew. A file that cannot be written (a full disk) costs nothing that is here: every later record,
    and the end of the session, tries the whole again.
    """

    def __init__(self, folder: SessionFolder, reserve: Reserve) -> None:
        self._results = folder.results
        self._reserve = reserve
        self._size = self._current_size()
        self.problem = ""
        """Why records are not on disk now; nothing where they are."""

    def keep(self, record: Record, records: list[Record]) -> None:
        """`records`: all of the session, this one among them."""

        def write() -> None:
            make_way(self._results)
            append_record(self._results, record)

        if self.problem or self._current_size() != self._size or self._fails(write):
            self.save(records)
        else:
            self._size = self._current_size()

    def save(self, records: list[Record]) -> None:
        """Writes all anew, in place of whatever is there."""
        text = "".join(f"{encode(record.to_json())}\n" for record in records)

        def write() -> None:
            make_way(self._results)
            self._results.parent.mkdir(parents=True, exist_ok=True)
            write_atomic(self._results, text)

        self.problem = self._fails(write)
        self._size = self._current_size()

    def keep_beside(self, path: Path, record: Record) -> str:
        """A second copy, in the entry's own folder. Why it could not be written, or nothing."""

        def write() -> None:
            make_way(path)
            path.parent.mkdir(parents=True, exist_ok=True)
            append_record(path, record, sync=False)

        return self._fails(write)

    def _fails(self, write: Callable[[], None]) -> str:
        try:
            self._reserve.writing(write)
        except OSError as error:
            return f"{error.strerror or error}: {error.filename or self._results}"
        return ""

    def _current_size(self) -> int:
        try:
            return self._results.stat().st_size
        except OSError:
            return 0
