from __future__ import annotations

from assay.history.writing import MEASURED
from assay.record import Record


def reasons_against(a: Record, b: Record) -> tuple[str, ...]:
    """Why two records must not be compared; empty if they may be."""
    reasons = [
        f"{record.run_id} was not measured: {record.outcome}" for record in (a, b) if record.outcome not in MEASURED
    ]
    if a.warmup != b.warmup:
        reasons.append("one of them is a warm-up")
    return (*reasons, *a.fingerprint.differences(b.fingerprint))
