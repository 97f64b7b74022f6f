"""What `ab` and `calibrate` have in common on the command line, and what they say while they run."""

from __future__ import annotations

import shlex
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence

from assay.api.running.experiment_inputs import ExperimentInputs
from assay.cli.words.command_words import split_commands
from assay.cli.words.config_arguments import lenient_argument
from assay.cli.words.results_dir import results_dir_argument
from assay.errors import UsageError
from assay.experiment.ab import Budget, Looked
from assay.session.events import Event, RunFinished


def experiment_arguments(parser: ArgumentParser, pairs: int) -> None:
    what = parser.add_argument_group("what to run")
    what.add_argument("--config", metavar="FILE", action="append", default=[], help="session YAML; later wins")
    what.add_argument("--entries", metavar="EXPR", help="only these")
    what.add_argument("--set", metavar="KEY=VALUE", action="append", default=[], help="for both sides")
    what.add_argument("--metric", metavar="NAME", action="append", default=[],
                      help="what decides, e.g. 'rows_per_s' or 'latency_*' (default: what the program measures itself, "
                      "otherwise its time and CPU time)")  # fmt: skip
    lenient_argument(what)
    parser.add_argument("--pairs", type=int, default=pairs, metavar="N", help=f"at most so many (default: {pairs})")
    parser.add_argument("--block", type=int, default=10, metavar="N", help="pairs between two looks (default: 10)")
    parser.add_argument("--warmup", type=int, default=1, metavar="N", help="runs before, not counted (default: 1)")
    parser.add_argument("--timeout", type=float, default=7200.0, metavar="SECONDS", help="limit of a command's run")
    parser.add_argument("--session-name", metavar="NAME", help="the time is appended")
    parser.add_argument("--quiet", action="store_true", help="only the result")
    results_dir_argument(parser, writes=True)


def experiment_inputs(args: Namespace, commands: Sequence[Sequence[str]]) -> ExperimentInputs:
    return ExperimentInputs(
        config=tuple(args.config),
        entries=args.entries,
        set=tuple(args.set),
        lenient_config=args.lenient_config,
        commands=tuple(tuple(words) for words in commands),
        timeout_s=args.timeout,
        budget=Budget(args.pairs, args.block, args.warmup),
        metrics=tuple(args.metric),
        margins=tuple(getattr(args, "margin", ())),
        results_dir=args.results_dir,
        session_name=args.session_name,
    )


def commands_of(after: Sequence[str] | None, most: int) -> list[list[str]]:
    """`-- 'A' -- 'B'`: each one quoted word, or the words themselves. No shell runs."""
    if not after:
        return []
    split = [shlex.split(words[0]) if len(words) == 1 else words for words in split_commands(after)]
    if not all(split) or len(split) > most:
        raise UsageError(f"write at most {most} command(s), each after `--`: assay ab -- 'A' -- 'B'")
    return split


class ExperimentProgress:
    """A dot a run is enough while it goes on; a failure is worth a line."""

    def __init__(self, quiet: bool) -> None:
        self._quiet = quiet

    def hear(self, event: Event) -> None:
        if isinstance(event, RunFinished) and not self._quiet:
            if event.record.success:
                print(".", end="", file=sys.stderr, flush=True)
            else:
                from assay.report.printable import printable

                print(f"\n{event.record.run_id}: {printable('; '.join(event.record.reasons))}", file=sys.stderr)

    def show_look(self, look: Looked) -> None:
        if not self._quiet:
            settled = ", failed" if look.comparison.failures else ", settled"
            open_entries = f", {look.open} undecided" if look.open else settled
            print(f" {look.pairs} of at most {look.budget} pairs{open_entries}", file=sys.stderr)
