from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from assay.api.results_dir import results_folder
from assay.api.running.run_inputs import RunInputs, command_entry
from assay.config.plan import Plan
from assay.errors import UsageError
from assay.experiment.ab import Budget
from assay.experiment.checkout import Checkout, repository_root
from assay.experiment.variant import Variant


@dataclass(frozen=True)
class ExperimentInputs:
    """What an experiment runs, how long, and where it is kept. Either `config` or `commands` says what."""

    config: tuple[str, ...] = ()
    entries: str | None = None
    set: tuple[str, ...] = ()
    lenient_config: bool = False
    commands: tuple[tuple[str, ...], ...] = ()
    """One, for both sides, or one for each."""
    timeout_s: float = 7200.0
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
