from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from assay.analysis import what_changed
from assay.config.entry import Entry
from assay.config.plan import Plan
from assay.history import History
from assay.record import Record, SessionFolder
from assay.record.secrets import Masker
from assay.report.html import write_report
from assay.session.events import Event
from assay.session.requirement_check import NoPast
from assay.session.session import Session
from assay.session.start import start_session

PROFILES = "profiles"


def profile_regressed(plan: Plan, folder: SessionFolder, records: Sequence[Record], masker: Masker) -> list[Path]:
    """Each entry that regressed once more under py-spy; the flame graphs go into the report.

    A profiled run is slower, so it is no result: it has a session of its own inside this one's folder, where neither
    the history nor a comparison looks.
    """
    with History.beside(plan.results_dir) as history:
        comparison = what_changed(records, history)
        regressed = {row.entry for row in comparison.regressed} if comparison else set()
        if not regressed:
            print("Nothing regressed: nothing to profile.")
            return []
        graphs = _profiled([entry for entry in plan.entries if entry.name in regressed], plan, folder, masker)
        write_report(folder, history=history, comparison=comparison)
    for graph in graphs:
        print(f"Flame graph: {graph}")
    return graphs


def _profiled(entries: Sequence[Entry], plan: Plan, folder: SessionFolder, masker: Masker) -> list[Path]:
    inside = folder.path / PROFILES
    alone = tuple(
        replace(entry, profiler="py-spy", repeat=1, warmup=0, retries=0, needs=(), requirements=()) for entry in entries
    )
    apart = replace(plan, entries=alone, results_dir=inside, artifacts_dir=inside / "artifacts", sinks=())
    reason = f"profiles of what regressed in {folder.path.name}"
    into, environment, info = start_session(apart, "profile", reason, ["assay", *sys.argv[1:]], masker)
    made = Session(apart, into, environment, info, _ignore, NoPast(), os.environ).run()
    graphs = []
    for record in made:
        graph = into.path / record.files["profile"] if "profile" in record.files else None
        if graph is None:
            print(
                f"{record.name} could not be profiled: {'; '.join(record.reasons) or record.outcome}", file=sys.stderr
            )
            continue
        target = inside / f"{record.name}.svg"
        shutil.copyfile(graph, target)
        graphs.append(target)
    return graphs


def _ignore(event: Event) -> None:
    """A profile is no result: neither progress nor history nor sinks hear of it."""
