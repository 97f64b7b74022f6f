"""What a person has looked at already, kept in the results folder: `acknowledged.json`."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args
from urllib.parse import parse_qs

from assay.analysis import Row, Verdict
from assay.errors import AssayError, DataError, UsageError
from assay.files.checked_fields import Written
from assay.files.json_text import encode, read_json, untag
from assay.files.reading import SESSION, Unreadable
from assay.files.writing import write_atomic
from assay.history import History, RunRow
from assay.history.rows import microseconds
from assay.record import Record, SessionFolder
from assay.report.quantity import printable
from assay.report.run_folder import RunFolder
from assay.server.address import NotThere
from assay.server.trend_charts import Trend

if TYPE_CHECKING:
    from assay.server.session_store import Store


FILE_NAME = "acknowledged.json"
LONGEST_NOTE = 500
Matter = Literal["failed", "regressed"]
MATTERS: tuple[Matter, ...] = get_args(Matter)
_WRITING = threading.Lock()


@dataclass(frozen=True)
class Acknowledgement:
    """Somebody has seen to an entry on a class of machines: what began no later than `through` needs nobody any more.
    What begins afterwards does, so an entry that passed in between and fails again is shown again."""

    matter: Matter
    entry: str
    machine: str
    through: str
    """Start of the newest session that was known when it was given."""
    given_at: str
    note: str = ""

    def covers(self, matter: Matter, entry: str, machine: str, since: str) -> bool:
        same = (self.matter, self.entry, self.machine) == (matter, entry, machine)
        return same and microseconds(since) <= microseconds(self.through)

    @classmethod
    def from_json(cls, written: Mapping[str, Any]) -> Acknowledgement:
        item = Written(written)
        matter = item.one_of("matter", MATTERS)
        return cls(
            matter=next(known for known in MATTERS if known == matter),
            entry=item.text("entry"),
            machine=item.text("machine"),
            through=item.moment("through"),
            given_at=item.moment("given_at"),
            note=item.text("note", "")[:LONGEST_NOTE],
        )


def load_acknowledged(results_dir: Path) -> tuple[Acknowledgement, ...]:
    """Raises a `DataError` that names the file where it is damaged."""
    path = results_dir / FILE_NAME
    try:
        written = read_json(path, SESSION, untag, own=True)
        items = written["acknowledged"] if isinstance(written, dict) else None
        if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
            raise DataError("it has no list `acknowledged`")
        return tuple(Acknowledgement.from_json(item) for item in items)
    except FileNotFoundError:
        return ()
    except (Unreadable, DataError, KeyError) as error:
        why = error.reason if isinstance(error, Unreadable) else error
        raise DataError(f"{path}: cannot be read ({why}); mend it, or delete it to start anew") from None


def acknowledge(results_dir: Path, given: Acknowledgement) -> None:
    """A newer one of the same matter replaces the older."""
    with _WRITING:
        kept = _without(load_acknowledged(results_dir), given.matter, given.entry, given.machine)
        _write(results_dir, [*kept, given])


def take_back(results_dir: Path, matter: Matter, entry: str, machine: str) -> None:
    with _WRITING:
        _write(results_dir, _without(load_acknowledged(results_dir), matter, entry, machine))


def _without(known: Iterable[Acknowledgement], matter: Matter, entry: str, machine: str) -> list[Acknowledgement]:
    return [one for one in known if (one.matter, one.entry, one.machine) != (matter, entry, machine)]


def _write(results_dir: Path, items: list[Acknowledgement]) -> None:
    text = encode({"acknowledged": [asdict(item) for item in items]}, indent=2)
    write_atomic(results_dir / FILE_NAME, text)


# What a person says on the first screen: that a failure or a regression has been looked at.


def is_own(headers: Mapping[str, str]) -> bool:
    """Whether a page of the dashboard itself sent it. A page elsewhere can have a browser send a form here, but not
    without saying where it is from."""
    origin = headers.get("origin")
    if origin is not None:
        return origin.partition("://")[2] == headers.get("host")
    return headers.get("sec-fetch-site") == "same-origin"


def acknowledge_asked(store: Store, body: bytes) -> str:
    """Where to go back to."""
    try:
        fields = {name: values[0] for name, values in parse_qs(body.decode()).items()}
    except (UnicodeDecodeError, ValueError):
        raise UsageError("the form cannot be read") from None
    matter = next((known for known in MATTERS if known == fields.get("matter")), None)
    entry, machine = fields.get("entry", ""), fields.get("machine", "")
    if matter is None:
        raise UsageError(f"matter must be one of {', '.join(MATTERS)}, not {fields.get('matter', '')!r}")
    known = [one for one in store.board().concerns if (one.matter, one.entry, one.machine) == (matter, entry, machine)]
    if not known:
        raise NotThere(f"nothing of entry {entry!r} on {machine!r} has {matter}")
    try:
        if fields.get("back_to_open"):
            take_back(store.results_dir, matter, entry, machine)
        else:
            now = datetime.now(UTC).isoformat(timespec="seconds")
            note = " ".join(fields.get("note", "").split())[:LONGEST_NOTE]
            acknowledge(store.results_dir, Acknowledgement(matter, entry, machine, _newest(store), now, note))
    except OSError as error:
        raise UsageError(f"{store.results_dir} cannot be written: {error.strerror}") from None
    view = fields.get("view", "")
    return f"/?{view}" if view else "/"


def _newest(store: Store) -> str:
    with store.history() as history:
        runs = history.runs(limit=1) if history else []
    if not runs:
        raise NotThere("nothing has been recorded yet")
    return runs[0].started_at


# What needs a person: entries that failed or regressed, and whether somebody has acknowledged it.

_UNWANTED = ("failed", "crashed", "timeout", "invalid", "missed", "not_started")
"""A run that a user interrupted, or that was skipped because another failed, says nothing new."""
_LOG_LINES = 5
_STREAK = 400
"""Runs that are looked back at to tell since when an entry fails."""


@dataclass(frozen=True)
class Concern:
    matter: Matter
    entry: str
    machine: str
    since: str
    """Start of the first session that it is true of."""
    session: str
    """Where to look first: the newest that failed, or the likeliest first at the new level."""
    outcome: str = ""
    reasons: tuple[str, ...] = ()
    log: str = ""
    sessions: int = 1
    """Sessions in a row that failed."""
    trends: tuple[Trend, ...] = ()
    """Trends whose last step is a regression, the largest first."""
    tonight: tuple[tuple[Row, int | None], ...] = ()
    """Regressions by the verdicts of the newest session that no step shows yet, and their series."""
    acknowledged: Acknowledgement | None = None

    @property
    def series(self) -> int | None:
        return self.trends[0].series if self.trends else next((id for _, id in self.tonight if id), None)


def failure_of(history: History, entry: str, machine: str, marks: set[str], latest: RunRow) -> Concern | None:
    """`marks`: keys of the entry's fingerprints on that machine: one that fails early has other ones than when it
    passes, because its parameters were never written."""
    newest = [run for run in history.runs(session=latest.session, entry=entry, limit=_STREAK) if run.counts]
    failed = next((run for run in newest if run.fingerprint in marks and run.outcome in _UNWANTED), None)
    if failed is None:
        return None
    runs = [run for run in history.runs(entry=entry, limit=_STREAK) if run.fingerprint in marks and run.counts]
    since, streak = failed.started_at, {failed.session}
    for run in runs:
        if run.outcome in _UNWANTED:
            since = min(since, run.started_at)
            streak.add(run.session)
        elif run.session != latest.session and run.outcome == "passed":
            break
    try:
        record = history.record(failed.run_id)
    except AssayError:
        record = None  # damaged: that it failed is known all the same
    reasons = record.reasons if record else ()
    return Concern(
        "failed", entry, machine, since, failed.session, failed.outcome.replace("_", " "), reasons,
        _log(history, record), len(streak),
    )  # fmt: skip


def _log(history: History, record: Record | None) -> str:
    if record is None:
        return ""
    row = history.session(record.session)
    for path in (Path(row.folder) if row and row.folder else None, history.path.parent / record.session):
        if path is not None and SessionFolder.is_one(path):
            try:
                said = RunFolder(SessionFolder(path), record).log_tail(_LOG_LINES)
            except (AssayError, OSError):
                continue
            return printable(said, keep_lines=True)
    return ""


def regression_of(entry: str, machine: str, trends: Iterable[Trend], tonight: Sequence[Row]) -> Concern | None:
    trends = list(trends)
    stepped = [one for one in trends if one.last_step and one.last_step.verdict is Verdict.REGRESSED]
    stepped.sort(key=lambda one: (_is_own(one.metric), -(one.last_step.size if one.last_step else 0.0)))
    known = {one.metric: one.series for one in trends}
    told = {one.metric for one in stepped}
    new = tuple((row, known.get(row.metric)) for row in tonight if row.metric not in told)
    if stepped:
        newest = max((one.last_step for one in stepped if one.last_step), key=lambda step: step.at)
        return Concern(
            "regressed", entry, machine, newest.at, newest.session, trends=tuple(stepped), tonight=new,
        )  # fmt: skip
    return Concern("regressed", entry, machine, "", "", tonight=new) if new else None


def _is_own(metric: str) -> bool:
    """Whether Assay measures the metric itself: the program's own metrics say more."""
    return metric == "exec_time_s" or metric.startswith("usage.")


def with_acknowledgement(concern: Concern, given: Iterable[Acknowledgement]) -> Concern:
    for one in given:
        if one.covers(concern.matter, concern.entry, concern.machine, concern.since):
            return replace(concern, acknowledged=one)
    return concern
