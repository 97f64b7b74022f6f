from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from assay.analysis.comparing.compare_records import compare
from assay.analysis.comparing.comparison import Comparison
from assay.analysis.comparing.past import HistoryPast
from assay.analysis.judging.noise_floors import load_floors, margins
from assay.analysis.rules import Rules
from assay.history import History
from assay.history.history import FILE_NAME
from assay.record import Record


def compare_sessions(
    base: Iterable[Record],
    head: Iterable[Record],
    results_dir: Path,
    *,
    names: tuple[str, str],
    rules: Rules | None = None,
    **options: Any,
) -> Comparison:
    """Two sides with all that the results folder knows of them: its noise floors and its history.

    Whoever compares two sessions asks here (command line, Python, report, dashboard), so that all say the same.
    `options` are those of `compare`.
    """
    base, head = list(base), list(head)
    asked = {"names": names, "rules": rules or rules_for(results_dir), **options}
    if not head or not (results_dir / FILE_NAME).is_file():
        return compare(base, head, **asked)
    with History.beside(results_dir, read_only=True) as history:
        # The past of the older side. Sessions between the two may be at another level than the base, and would have the
        # head held against that.
        past = HistoryPast(history, min(record.started_at for record in [*base, *head]))
        return compare(base, head, **{"past": past, **asked})


def rules_for(results_dir: Path, margin: Sequence[str] = ()) -> Rules:
    """Margins as they are written on the command line; where none is given, the noise floors of the folder."""
    return Rules(floors=margins(load_floors(results_dir))).with_margins(list(margin))
