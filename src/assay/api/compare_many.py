from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from assay.analysis.comparing.ranking import Ranked, rankings
from assay.api.compare import compare, side_records
from assay.api.results_dir import sessions_folder
from assay.api.tables.records import Records
from assay.errors import UsageError


def compare_many(
    sides: Sequence[Records | str | Path],
    *,
    margin: str | Sequence[str] = (),
    anyway: bool = False,
    results_dir: str | Path | None = None,
    allow_missing_base: bool = False,
) -> Ranked:
    """Compares each side with the first, as `compare` does, and ranks the sides in every metric."""
    if len(sides) < 2:
        raise UsageError("compare takes two sides or more")
    known = [side.results_dir for side in sides if isinstance(side, Records)]
    where = sessions_folder(results_dir or next((folder for folder in known if folder is not None), None))
    records = [side_records(side, where) for side in sides]
    names = [", ".join(side.sessions[:3]) for side in records]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise UsageError(f"{twice} was given twice: give different sessions")
    found = [
        compare(
            records[0], other, margin=margin, anyway=anyway, results_dir=where, allow_missing_base=allow_missing_base
        )
        for other in records[1:]
    ]
    return Ranked(tuple(names), tuple(found), tuple(rankings(records, found)))
