from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace

from assay.api.listeners.guarded import Guarded
from assay.api.running.experiment_inputs import ExperimentInputs
from assay.api.running.run_plan import run_plan
from assay.config.plan import Plan
from assay.errors import UsageError
from assay.experiment.ab import AB, Found, Looked
from assay.experiment.pair import Pair
from assay.record import SessionFolder
from assay.record.session_files.session_kind import SessionKind
from assay.session.events import Listener
from assay.session.folders.open_session import OpenSession
from assay.session.interrupts import Interrupts
from assay.session.kept.masking import session_masker
from assay.session.start import start_session


def run_experiment(
    inputs: ExperimentInputs,
    pairs: list[Pair],
    plan: Plan,
    names: tuple[str, str],
    kind: SessionKind,
    *,
    command: Sequence[str],
    listen: Listener,
    looked: Callable[[Looked], None],
) -> tuple[Found, SessionFolder]:
    """Runs the pairs in a session of their own. Raises KeyboardInterrupt, once all is on disk, if interrupted."""
    from assay.analysis.comparing.compare_sessions import rules_for

    if inputs.budget.warmup < 0 or inputs.budget.block < 1 or inputs.timeout_s <= 0:
        raise UsageError("--warmup must be at least 0, --block at least 1, --timeout above 0")
    inputs.budget.looks()
    name = inputs.session_name or f"{kind}-{pairs[0].name}"[:100]
    session = start_session(plan, name, None, command, session_masker(plan, os.environ, command), kind)
    with Interrupts() as interrupts:
        _set_up(plan, session, interrupts)
        found = AB(
            pairs, plan, session, run_plan=run_plan, listen=Guarded("progress", listen, lambda trouble: None),
            budget=inputs.budget, names=names, rules=rules_for(plan.results_dir, inputs.margins),
            metrics=inputs.metrics, interrupts=interrupts, looked=looked,
        ).run()  # fmt: skip
    if interrupts.requested:
        raise KeyboardInterrupt
    return found, session.folder


def _set_up(plan: Plan, session: OpenSession, interrupts: Interrupts) -> None:
    setups = tuple(entry for entry in plan.entries if entry.is_setup)
    if not setups:
        return
    records = run_plan(replace(plan, entries=setups), session, interrupts=interrupts)
    failed = [record for record in records if not record.success]
    if failed:
        raise UsageError(f"{failed[0].name} has to prepare data and failed: {'; '.join(failed[0].reasons)}")
