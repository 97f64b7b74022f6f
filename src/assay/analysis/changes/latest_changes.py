from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from assay.analysis.comparing.compare_records import compare
from assay.analysis.comparing.comparison import Comparison
from assay.analysis.comparing.past import HistoryPast
from assay.analysis.comparing.surroundings import with_surroundings
from assay.analysis.judging.noise_floors import load_floors, margins
from assay.analysis.rules import Rules
from assay.analysis.sentences.side_names import BEFORE_AND_NOW
from assay.errors import DataError
from assay.history import History
from assay.record import Record


def what_changed(records: Sequence[Record], history: History, *, rules: Rules | None = None) -> Comparison | None:
    """A session's records against the last comparable runs of each entry, whichever session they are from.

    Called after every `assay run`: reads only what it needs and imports no scipy. None if nothing comparable was run
    before. Without rules, the noise floors that `assay calibrate` measured count. `history` may already hold `records`:
    only what started earlier is looked at.
    """
    counted = [record for record in records if record.counts]
    if not counted:
        return None
    before = min(record.started_at for record in counted)
    fingerprints = {record.fingerprint.key: record.fingerprint for record in counted}
    base = [run for fingerprint in fingerprints.values() for run in history.last_comparable(fingerprint, before)]
    if not base:
        return None
    known = {run.name for run in base}
    sessions = list(dict.fromkeys(run.session for run in base))
    name = sessions[0] if len(sessions) == 1 else f"{len(sessions)} earlier sessions"
    notes: tuple[str, ...] = ()
    if rules is None:
        rules, notes = _load_rules(history)
    head = [record for record in counted if record.name in known]
    comparison = compare(
        base,
        head,
        names=(name, counted[0].session),
        rules=rules,
        past=HistoryPast(history, before),
        sides=BEFORE_AND_NOW,
    )
    folder = history.path.parent
    before_folders, now = [folder / session for session in sessions], [folder / counted[0].session]
    return with_surroundings(replace(comparison, notes=(*comparison.notes, *notes)), base, head, before_folders, now)


def _load_rules(history: History) -> tuple[Rules, tuple[str, ...]]:
    """The noise floors beside the history. A file that cannot be read must not cost a session its summary."""
    try:
        return Rules(floors=margins(load_floors(history.path.parent))), ()
    except DataError as error:
        return Rules(), (f"noise floors are not used: {error}",)
