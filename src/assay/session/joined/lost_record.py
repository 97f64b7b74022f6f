from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from assay.record import Environment, Record
from assay.record.joined.job import Job
from assay.session.resume import make_interrupted_record


def make_lost_record(job: Job, session: str, environment: Environment) -> Record | None:
    """Record of the run that a job was at when it was killed. None if it was at none."""
    if job.at is None:
        return None
    at = datetime.fromisoformat(job.at.started_at).timestamp()
    record = make_interrupted_record(job.at.run_id, job.at.name, session, environment, at)
    return replace(record, host=job.host, reasons=(f"{job.words} ended while this was running",))
