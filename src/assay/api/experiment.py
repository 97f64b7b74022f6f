from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from assay.api.listeners import Guarded
from assay.api.results_dir import results_folder
from assay.api.run_inputs import RunInputs, command_entry
from assay.api.run_plan import run_plan
from assay.config import DEFAULT_TIMEOUT_S
from assay.config.plan import Plan
from assay.errors import UsageError
from assay.experiments.ab import AB, Budget, Found, Looked, Pair
from assay.experiments.variant import Checkout, Variant, repository_root
from assay.record import SessionFolder
from assay.record.session_folder import SessionKind
from assay.session.events import Interrupts, Listener
from assay.session.results.masked_records import session_masker
from assay.session.session import start_session
from assay.session.workspace import OpenSession


@dataclass(frozen=True)
class ExperimentInputs:
    """What an experiment runs, how long, and where it is kept. Either `config` or `commands` says what."""

    config: tuple[str, ...] = ()
    entries: str | None = None
    set: tuple[str, ...] = ()
    lenient_config: bool = False
    commands: tuple[tuple[str, ...], ...] = ()
    """One, for both sides, or one for each."""
    timeout_s: float = DEFAULT_TIMEOUT_S
    """Limit of a command's run."""
    budget: Budget = Budget()
    metrics: tuple[str, ...] = ()
    margins: tuple[str, ...] = ()
    results_dir: Path | None = None
    session_name: str | None = None

    def plan(self, variant: Variant, side: int, checkout: Checkout | None) -> Plan:
        """The plan of one side."""
        plan = self._command_plan(side) if self.commands else self._files_plan(variant, checkout)
        changed = [entry if entry.is_setup else variant.apply(entry) for entry in plan.entries]
        if checkout is not None:
            here = checkout.path / Path.cwd().resolve().relative_to(checkout.repository)
            changed = [replace(entry, cwd=here if here.is_dir() else checkout.path) for entry in changed]
        return replace(plan, entries=tuple(changed))

    def repository(self) -> Path:
        return repository_root(Path(self.config[0]).resolve().parent if self.config else Path.cwd())

    def _files_plan(self, variant: Variant, checkout: Checkout | None) -> Plan:
        files = [Path(file).absolute() for file in self.config]
        for file in files:
            if not file.is_file():
                raise UsageError(f"--config {file}: there is no such file")
        if checkout is not None:
            files = [checkout.inside(file) for file in files]
        inputs = RunInputs(
            config=tuple(map(str, files)),
            set=(*self.set, *variant.overrides, "sinks=[]"),  # no sink is told, so none needs its variables
            entries=self.entries,
            lenient_config=self.lenient_config,
            results_dir=str(self.results_dir.absolute()) if self.results_dir else None,
        )
        plan = inputs.plan()
        wrong = [f"{entry.name}: {entry.problem}" for entry in plan.entries if entry.problem]
        if wrong:
            raise UsageError("\n".join(wrong))
        return plan

    def _command_plan(self, side: int) -> Plan:
        words = self.commands[min(side, len(self.commands) - 1)]
        # Both sides have the first one's name: they are variants of one entry.
        entry = command_entry(words, self.timeout_s, name=self.commands[0][0])
        results = results_folder(self.results_dir).absolute()
        return Plan(entries=(entry,), results_dir=results, artifacts_dir=results / "artifacts")


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
    from assay.analysis.compare_records import rules_for

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
