from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from assay.api.running.run_plan import run_plan
from assay.api.running.session_run import SessionRun
from assay.api.session_changes import SessionChanges
from assay.config.entries.entry import Entry
from assay.history import History
from assay.report.html import write_report
from assay.session.kept.masking import session_masker
from assay.session.start import start_session
from assay.untrusted.read_limit import RESULT
from assay.untrusted.regular_file import read_bytes
from assay.untrusted.writing import write_atomic

PROFILES = "profiles"


@dataclass(frozen=True)
class ProfiledEntry:
    entry: str
    graph: Path | None
    why: str = ""
    """Why there is no graph; empty where there is one."""


def profile_regressed(ran: SessionRun, command: Sequence[str]) -> list[ProfiledEntry]:
    """Runs each entry that regressed once more, under py-spy; the flame graphs go into the report.

    A profiled run is slower, so it is no result: it has a session of its own inside this one's folder, where neither
    the history nor a comparison looks, and nobody listens to it.
    """
    changes = SessionChanges.of(ran.folder) if ran.untouched else SessionChanges(ran.comparison)
    if not changes.regressed:
        return []
    profiles = _profile([entry for entry in ran.plan.entries if entry.name in changes.regressed], ran, command)
    with History.beside(ran.plan.results_dir) as history:
        write_report(ran.folder, history=history, comparison=changes.comparison)
    return profiles


def _profile(entries: Sequence[Entry], ran: SessionRun, command: Sequence[str]) -> list[ProfiledEntry]:
    inside = ran.folder.path / PROFILES
    alone = tuple(
        replace(entry, profiler="py-spy", repeat=1, warmup=0, retries=0, needs=(), requirements=()) for entry in entries
    )
    plan = replace(ran.plan, entries=alone, results_dir=inside, artifacts_dir=inside / "artifacts", sinks=())
    reason = f"profiles of what regressed in {ran.folder.path.name}"
    session = start_session(plan, "profile", reason, command, session_masker(plan, os.environ, command), "profile")
    profiles = []
    for record in run_plan(plan, session):
        if "profile" not in record.files:
            profiles.append(ProfiledEntry(record.name, None, "; ".join(record.reasons) or str(record.outcome)))
            continue
        target = inside / f"{record.name}.svg"
        write_atomic(target, read_bytes(session.folder.path / record.files["profile"], RESULT))
        profiles.append(ProfiledEntry(record.name, target))
    return profiles
