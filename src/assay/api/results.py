"""Records as columns of one type each, which every table library takes as they are.

One row a run. Metrics keep their names; parameters and usage are under `params.` and `usage.`, so is a metric whose
name a field of the record has (`metrics.outcome`). What is no scalar becomes JSON text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from assay.api.results_dir import sessions_folder
from assay.errors import MissingExtra
from assay.files.json_text import encode
from assay.history.find_session import find_session, ordinary_sessions, session_folders
from assay.record import Record
from assay.record.metric import as_float

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

    from assay.api.records_view import SeriesChart


HEIGHT = 480
"""Pixels of a page inside a notebook; it scrolls."""


def frame(page: str) -> str:
    """A whole page inside another. It keeps its own style, and nothing of it can run in the notebook around it."""
    return (
        f'<iframe sandbox srcdoc="{escape(page)}" title="Comparison" loading="lazy" '
        f'style="width: 100%; height: {HEIGHT}px; border: 1px solid #8884"></iframe>'
    )


Column = list[Any]
_MOST_INTEGER = 2**63


def record_columns(records: Sequence[Record]) -> dict[str, Column]:
    rows = [_row(record) for record in records]
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: _one_type([row.get(name) for row in rows]) for name in _order(names)}


def _row(record: Record) -> dict[str, Any]:
    row: dict[str, Any] = {
        "session": record.session,
        "entry": record.name,
        "run_id": record.run_id,
        "repeat": record.repeat,
        "outcome": str(record.outcome),
        "success": record.success,
        "started_at": datetime.fromisoformat(record.started_at),
        "git_commit": record.git_commit,
        "machine": record.fingerprint.machine,
        "warmup": record.warmup,
        "superseded": record.superseded,
        "reasons": "; ".join(record.reasons),
    }
    fields = set(row)
    usage = record.usage.to_json() if record.usage.samples else {}
    measured = {f"usage.{name}": value for name, value in usage.items()}
    metrics = {name: metric.value for name, metric in record.metrics.items()}
    row.update({f"metrics.{name}" if name in fields else name: value for name, value in metrics.items()})
    row.update(measured)
    row.update({f"params.{name}": value for name, value in record.script_params.items()})
    return row


def _order(names: Iterable[str]) -> list[str]:
    """Fields first, then metrics, usage and parameters, each in the order of their first appearance."""
    return sorted(names, key=lambda name: name.startswith("usage.") + 2 * name.startswith("params."))


def _one_type(values: Column) -> Column:
    kinds = {_kind(value) for value in values if value is not None}
    if len(kinds) == 1 and kinds <= {"bool", "int", "float", "time"}:
        return values
    if kinds <= {"int", "float", "huge"}:
        return [None if value is None else as_float(value) for value in values]
    return [None if value is None else _text(value) for value in values]


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int):
        return "int" if -_MOST_INTEGER <= value < _MOST_INTEGER else "huge"
    if isinstance(value, float):
        return "float"
    return "time" if isinstance(value, datetime) else "text"


def _text(value: Any) -> str:
    """A lone surrogate, which no table library can store, becomes a question mark."""
    text = value if isinstance(value, str) else encode(dict(value) if isinstance(value, Mapping) else value)
    return text.encode("utf-8", "replace").decode()


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
        from assay.api.records_view import SeriesChart

        return SeriesChart.of(self.of(entry=entry), metric)

    def _repr_html_(self) -> str:
        from assay.api.records_view import records_html

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


def results(
    session: str | Path | Sequence[str | Path] | None = None,
    *,
    entry: str | None = None,
    last: int | None = None,
    everything: bool = False,
    results_dir: str | Path | None = None,
) -> Records:
    """The records of sessions, oldest first.

    `session`: `latest`, `latest~1`, a name, a folder, a git revision, or several of them; without it all sessions in
    `results_dir` (default: $ASSAY_RESULTS_DIR, otherwise where the last run from this folder wrote, otherwise
    ./results) of whatever kind, or the `last` so many ordinary ones (those that `latest` counts). Warm-ups and attempts
    that were tried again are left out unless `everything` is asked for.
    """
    where = sessions_folder(results_dir)
    if session is None:
        folders = (session_folders(where) if last is None else ordinary_sessions(where)[:last])[::-1]
    else:
        words = [session] if isinstance(session, str | Path) else session
        folders = [find_session(str(word), where) for word in words]
    found = (record for folder in folders for record in folder.records())
    kept = (record for record in found if (everything or record.counts) and (entry is None or record.name == entry))
    parent = folders[-1].path.absolute().parent if folders else where
    return Records(kept, parent, [folder.path for folder in folders])
