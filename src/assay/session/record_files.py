from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from assay.errors import DataError
from assay.record import Record
from assay.record.atomic_file import write_atomic
from assay.record.results_file import append_record
from assay.record.strict_json import encode
from assay.session.disk import Reserve
from assay.session.own_file import make_way


class RecordFiles:
    """Where a session writes its records: its own file, which decides what was finished, and one beside each entry.

    A program can reach both. What it puts in place of the session's file is moved aside, and a file that it changed or
    removed is written anew; the entry's is a copy, and where it cannot be written nothing is lost.
    """

    def __init__(self, results: Path, reserve: Reserve) -> None:
        self._results = results
        self._reserve = reserve
        self._size = self._current_size()

    def keep(self, record: Record, records: Iterable[Record], copy: Path) -> None:
        """`records`: all of the session, this one as the last."""
        make_way(self._results)
        if self._current_size() == self._size:
            self._reserve.writing(lambda: append_record(self._results, record))
        else:
            self._results.parent.mkdir(parents=True, exist_ok=True)
            lines = [encode(each.to_json()) + "\n" for each in records]
            self._reserve.writing(lambda: write_atomic(self._results, "".join(lines)))
        self._size = self._current_size()
        try:
            make_way(copy)
            copy.parent.mkdir(parents=True, exist_ok=True)
            self._reserve.writing(lambda: append_record(copy, record, sync=False))
        except (OSError, DataError):
            return

    def _current_size(self) -> int:
        try:
            return self._results.stat().st_size
        except OSError:
            return 0
