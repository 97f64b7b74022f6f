from __future__ import annotations

from assay.api.running.session_run import SessionRun
from assay.record import Outcome


def exit_code(ran: SessionRun) -> int:
    """0 all passed, 1 something did not, 3 it passed and regressed, 130 interrupted. Warm-ups and repeated attempts do
    not count."""
    outcomes = [record.outcome for record in ran.records if record.counts or record.outcome is Outcome.INTERRUPTED]
    if ran.interrupted or Outcome.INTERRUPTED in outcomes:
        return 130
    if any(outcome is not Outcome.PASSED for outcome in outcomes):
        return 1
    return 3 if ran.regressed else 0
