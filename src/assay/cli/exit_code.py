from __future__ import annotations

from collections.abc import Iterable

from assay.record import Outcome, Record


def exit_code(records: Iterable[Record]) -> int:
    """0 all passed, 1 something did not, 130 interrupted. Warm-ups and repeated attempts do not count."""
    outcomes = [record.outcome for record in records if record.counts or record.outcome is Outcome.INTERRUPTED]
    if Outcome.INTERRUPTED in outcomes:
        return 130
    return 0 if all(outcome is Outcome.PASSED for outcome in outcomes) else 1
