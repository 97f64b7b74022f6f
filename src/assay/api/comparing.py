from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from assay.analysis import Comparison, HistoryPast, Rules, compare
from assay.analysis.noise_floors import load_floors, margins
from assay.history import History
from assay.history.history import FILE_NAME
from assay.record import SessionFolder


def compare_sessions(
    base: SessionFolder, head: SessionFolder, *, results_dir: Path, margin: Sequence[str] = (), anyway: bool = False
) -> Comparison:
    """With the noise floors and the history of `results_dir`, if there are any."""
    names = base.info().name, head.info().name
    rules = rules_for(results_dir, margin)
    records = base.records(), head.records()
    if not (results_dir / FILE_NAME).is_file():
        return compare(*records, names=names, rules=rules, across=anyway)
    with History.beside(results_dir, read_only=True) as history:
        past = HistoryPast(history, head.info().started_at)
        return compare(*records, names=names, rules=rules, past=past, across=anyway)


def rules_for(results_dir: Path, margin: Sequence[str]) -> Rules:
    return Rules(floors=margins(load_floors(results_dir))).with_margins(list(margin))
