from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from assay.api.tables.record_columns import record_columns
from assay.errors import MissingExtra
from assay.record import Record

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

    from assay.api.tables.series_chart import SeriesChart


class Records(Sequence[Record]):
    """The records of one or more sessions, oldest first; a table in whichever library you use."""

    def __init__(
        self, records: Iterable[Record], results_dir: Path | None = None, folders: Sequence[Path] = ()
    ) -> None:
        self._records = tuple(records)
        self._folders = tuple(folders)
        self.results_dir = results_dir
        """The folder that holds the sessions, where a comparison finds their history."""

    @property
    def folders(self) -> tuple[Path, ...]:
        """Where the records are from; what else is there (the environment) is read from them."""
        if self._folders or self.results_dir is None:
            return self._folders
        return tuple(self.results_dir / session for session in self.sessions)

    @property
    def sessions(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(record.session for record in self._records))

    @property
    def entries(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(record.name for record in self._records))

    @property
    def passed(self) -> bool:
        """Whether all passed; False if there are no records."""
        return bool(self._records) and all(record.success for record in self._records)

    def of(self, *, entry: str | None = None, session: str | None = None) -> Records:
        kept = (
            record
            for record in self._records
            if (entry is None or record.name == entry) and (session is None or record.session == session)
        )
        return Records(kept, self.results_dir, self._folders)

    def to_pandas(self) -> pandas.DataFrame:
        """One row a run; metrics in columns of their names, `params.` and `usage.` before the others."""
        try:
            import pandas
        except ImportError:
            raise MissingExtra("pandas", "pandas") from None
        # Whole numbers with gaps stay whole; pandas would make floats of them.
        columns = {
            name: pandas.array(values, dtype="Int64") if _has_gaps(values) else values
            for name, values in record_columns(self._records).items()
        }
        return pandas.DataFrame(columns)

    def to_polars(self) -> polars.DataFrame:
        try:
            import polars
        except ImportError:
            raise MissingExtra("polars", "polars") from None
        return polars.DataFrame(record_columns(self._records))

    def to_arrow(self) -> pyarrow.Table:
        try:
            import pyarrow
        except ImportError:
            raise MissingExtra("pyarrow", "arrow") from None
        return pyarrow.table(record_columns(self._records))

    def plot(self, metric: str, *, entry: str | None = None) -> SeriesChart:
        """A metric over sessions, one line an entry: the median of each session's runs."""
        from assay.api.tables.series_chart import SeriesChart

        return SeriesChart.of(self.of(entry=entry), metric)

    def _repr_html_(self) -> str:
        from assay.api.tables.records_html import records_html

        return records_html(self)

    def __repr__(self) -> str:
        failed = sum(not record.success for record in self._records)
        runs, entries, sessions = len(self._records), len(self.entries), len(self.sessions)
        counted = (
            f"{runs} {'run' if runs == 1 else 'runs'} of {entries} {'entry' if entries == 1 else 'entries'} "
            f"in {sessions} {'session' if sessions == 1 else 'sessions'}"
        )
        return f"<assay.Records: {counted}{f', {failed} did not pass' if failed else ', all passed' if self else ''}>"

    def __len__(self) -> int:
        return len(self._records)

    def __iter__(self) -> Iterator[Record]:
        return iter(self._records)

    @overload
    def __getitem__(self, at: int) -> Record: ...
    @overload
    def __getitem__(self, at: slice) -> Records: ...
    def __getitem__(self, at: int | slice) -> Record | Records:
        return (
            Records(self._records[at], self.results_dir, self._folders) if isinstance(at, slice) else self._records[at]
        )


def _has_gaps(values: list[Any]) -> bool:
    present = [value for value in values if value is not None]
    return len(present) < len(values) and bool(present) and all(type(value) is int for value in present)
