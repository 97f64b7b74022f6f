"""What `ab` and `calibrate` have in common: what to run, how long, and where it is kept."""

from __future__ import annotations

import os
import shlex
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from assay.api.run_inputs import RunInputs
from assay.cli.results_dir import results_dir, results_dir_argument
from assay.config.entry import Entry
from assay.config.plan import Plan
from assay.errors import UsageError
from assay.experiment.ab import AB, Budget, Found, Looked
from assay.experiment.checkout import Checkout, repository_root
from assay.experiment.pair import Pair
from assay.experiment.variant import Variant
from assay.record import Environment, SessionFolder, SessionInfo
from assay.record.secrets import Masker
from assay.session.events import Event, RunFinished
from assay.session.interrupts import Interrupts
from assay.session.requirement_check import NoPast
from assay.session.session import Session
from assay.session.start import start_session


def experiment_arguments(parser: ArgumentParser, pairs: int) -> None:
    what = parser.add_argument_group("what to run")
    what.add_argument("--config", metavar="FILE", action="append", default=[], help="session YAML; later wins")
    what.add_argument("--entries", metavar="EXPR", help="only these")
    what.add_argument("--set", metavar="KEY=VALUE", action="append", default=[], help="for both sides")
    what.add_argument("--metric", metavar="NAME", action="append", default=[],
                      help="what decides, e.g. 'rows_per_s' or 'latency_*' (default: what the program measures itself, "
                      "otherwise its time and CPU time)")  # fmt: skip
    parser.add_argument("--pairs", type=int, default=pairs, metavar="N", help=f"at most so many (default: {pairs})")
    parser.add_argument("--block", type=int, default=10, metavar="N", help="pairs between two looks (default: 10)")
    parser.add_argument("--warmup", type=int, default=1, metavar="N", help="runs before, not counted (default: 1)")
    parser.add_argument("--timeout", type=float, default=7200.0, metavar="SECONDS", help="limit of a command's run")
    parser.add_argument("--session-name", metavar="NAME", help="the time is appended")
    parser.add_argument("--quiet", action="store_true", help="only the result")
    results_dir_argument(parser)


class Sides:
    """The two variants of everything, as plans; revisions stay checked out while the block lasts."""

    def __init__(self, args: Namespace, commands: Sequence[Sequence[str]], variants: tuple[Variant, Variant]) -> None:
        self._args, self._commands, self._variants = args, commands, variants
        self._closing = ExitStack()

    def __enter__(self) -> tuple[list[Pair], Plan]:
        try:
            plans = [self._plan(variant, at) for at, variant in enumerate(self._variants)]
        except BaseException:
            self._closing.close()
            raise
        by_name = {entry.name: entry for entry in plans[1].entries}
        pairs = [
            Pair.of(entry, by_name[entry.name])
            for entry in plans[0].entries
            if not entry.is_setup and entry.name in by_name
        ]
        if not pairs:
            raise UsageError("there is nothing to compare: the two sides have no entry in common")
        return pairs, plans[0]

    def __exit__(self, *gone: object) -> None:
        self._closing.close()

    def _plan(self, variant: Variant, side: int) -> Plan:
        checkout = self._closing.enter_context(Checkout(variant.revision, self._root())) if variant.revision else None
        plan = self._command_plan(side) if self._commands else self._files_plan(variant, checkout)
        changed = [entry if entry.is_setup else variant.apply(entry) for entry in plan.entries]
        if checkout is not None:
            here = checkout.path / Path.cwd().resolve().relative_to(checkout.repository)
            changed = [replace(entry, cwd=here if here.is_dir() else checkout.path) for entry in changed]
        return replace(plan, entries=tuple(changed), sinks=())

    def _root(self) -> Path:
        return repository_root(Path(self._args.config[0]).resolve().parent if self._args.config else Path.cwd())

    def _files_plan(self, variant: Variant, checkout: Checkout | None) -> Plan:
        files = [Path(file).absolute() for file in self._args.config]
        for file in files:
            if not file.is_file():
                raise UsageError(f"--config {file}: there is no such file")
        if checkout is not None:
            files = [checkout.inside(file) for file in files]
        inputs = RunInputs(
            config=tuple(map(str, files)),
            set=(*self._args.set, *variant.overrides),
            entries=self._args.entries,
            results_dir=str(results_dir(self._args).absolute()) if self._args.results_dir else None,
        )
        plan = inputs.plan()
        wrong = [f"{entry.name}: {entry.problem}" for entry in plan.entries if entry.problem]
        if wrong:
            raise UsageError("\n".join(wrong))
        return plan

    def _command_plan(self, side: int) -> Plan:
        words = self._commands[min(side, len(self._commands) - 1)]
        first = Path(self._commands[0][0]).name
        name = "".join(letter for letter in first if letter.isalnum() or letter in "._-").lstrip(".-_") or "command"
        args = tuple(word.replace("{", "{{").replace("}", "}}") for word in words[1:])
        entry = Entry(name[:60], (words[0],), args, self._args.timeout, where="the command line")
        results = results_dir(self._args).absolute()
        return Plan(entries=(entry,), results_dir=results, artifacts_dir=results / "artifacts")


def commands_of(after: Sequence[str] | None, most: int) -> list[list[str]]:
    """`-- 'A' -- 'B'`: each one quoted word, or the words themselves. No shell runs."""
    if not after:
        return []
    commands: list[list[str]] = [[]]
    for word in after:
        if word == "--":
            commands.append([])
        else:
            commands[-1].append(word)
    split = [shlex.split(words[0]) if len(words) == 1 else words for words in commands]
    if not all(split) or len(split) > most:
        raise UsageError(f"write at most {most} command(s), each after `--`: assay ab -- 'A' -- 'B'")
    return split


def run_experiment(
    args: Namespace, pairs: list[Pair], plan: Plan, names: tuple[str, str], kind: str
) -> tuple[Found, SessionFolder]:
    from assay.cli.compare import rules_for

    if args.warmup < 0 or args.block < 1 or args.timeout <= 0:
        raise UsageError("--warmup must be at least 0, --block at least 1, --timeout above 0")
    budget = Budget(args.pairs, args.block, args.warmup)
    budget.looks()
    masker = Masker(os.environ)
    name = args.session_name or f"{kind}-{pairs[0].name}"[:100]
    opened = start_session(plan, name, None, ["assay", *sys.argv[1:]], masker)
    margins = getattr(args, "margin", [])
    with Interrupts() as interrupts:
        _set_up(plan, opened, interrupts)
        found = AB(
            pairs, plan, opened, listen=_Told(args.quiet), variables=os.environ, budget=budget, names=names,
            rules=rules_for(plan.results_dir, margins), metrics=args.metric, interrupts=interrupts,
            looked=lambda look: _say(look, args.quiet),
        ).run()  # fmt: skip
    if interrupts.requested:
        raise KeyboardInterrupt
    return found, opened[0]


def _set_up(plan: Plan, opened: tuple[SessionFolder, Environment, SessionInfo], interrupts: Interrupts) -> None:
    setups = tuple(entry for entry in plan.entries if entry.is_setup)
    if not setups:
        return
    first = replace(plan, entries=setups)
    session = Session(first, *opened, lambda event: None, NoPast(), os.environ, interrupts)
    failed = [record for record in session.run() if not record.success]
    if failed:
        raise UsageError(f"{failed[0].name} has to prepare data and failed: {'; '.join(failed[0].reasons)}")


class _Told:
    """A dot a run is enough while it goes on; a failure is worth a line."""

    def __init__(self, quiet: bool) -> None:
        self._quiet = quiet

    def __call__(self, event: Event) -> None:
        if isinstance(event, RunFinished) and not self._quiet:
            if event.record.success:
                print(".", end="", file=sys.stderr, flush=True)
            else:
                print(f"\n{event.record.run_id}: {'; '.join(event.record.reasons)}", file=sys.stderr)


def _say(look: Looked, quiet: bool) -> None:
    if quiet:
        return
    open_entries = f", {look.open} undecided" if look.open else ", settled"
    print(f" {look.pairs} of at most {look.budget} pairs{open_entries}", file=sys.stderr)
