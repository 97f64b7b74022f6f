"""Commands of the user's: what stands after `--`."""

from __future__ import annotations

import shlex
import shutil
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence

from assay.api.experiment import ExperimentInputs
from assay.api.run import SessionRun
from assay.cli.arguments import lenient_argument, results_dir_argument
from assay.config import DEFAULT_TIMEOUT_S
from assay.config.entry import Parameter
from assay.errors import UsageError
from assay.experiments.ab import Budget, Looked
from assay.record import Outcome
from assay.session.events import Event, RunFinished

DEFAULT_SHELL = "sh"


def command_arguments(parser: ArgumentParser) -> None:
    command = parser.add_argument_group("commands, without YAML")
    command.add_argument("--runs", metavar="N", type=int, default=10, help="how often each (default: 10)")
    command.add_argument("--warmup", metavar="N", type=int, default=0, help="runs before, not counted (default: 0)")
    command.add_argument(
        "--timeout", metavar="SECONDS", type=float, default=DEFAULT_TIMEOUT_S, help="limit of each run"
    )
    command.add_argument("--prepare", metavar="CMD", action="append", default=[],
                         help="untimed, before each run; once for all commands, or once for each")  # fmt: skip
    command.add_argument("--cleanup", metavar="CMD", action="append", default=[],
                         help="untimed, after each run, however it ended")  # fmt: skip
    command.add_argument("--parameter", metavar=("NAME", "A,B,C"), nargs=2, action="append", default=[],
                         help="run with each value in place of {NAME}; several: each with each")  # fmt: skip
    command.add_argument("--parameter-scan", metavar="WORD", nargs="+", action="append", default=[],
                         help="the same for NAME MIN MAX [STEP], both ends included")  # fmt: skip
    command.add_argument("--shell", metavar="SHELL", nargs="?", const=DEFAULT_SHELL,
                         help="a shell runs the commands (default: sh); its start is timed too")  # fmt: skip


def several_commands(args: Namespace) -> bool:
    """Whether more is said than one command as it is."""
    more = args.prepare or args.cleanup or args.parameter or args.parameter_scan or args.shell
    return bool(more) or "--" in (args.after or ())


def one_command(args: Namespace) -> tuple[str, ...]:
    """Its words. A quoted line is split; a single word that names a program is that program, spaces and all."""
    return tuple(_words(list(args.after or ())))


def command_lines(args: Namespace) -> tuple[str, ...]:
    """`-- A … -- B …`, a quoted line each."""
    commands = split_commands(args.after or ())
    if not all(commands):
        raise UsageError("a command is missing after `--`: assay run -- COMMAND A -- COMMAND B")
    return tuple(_line(words, args.shell) for words in commands)


def split_commands(after: Sequence[str]) -> list[list[str]]:
    """The words of each; none where nothing stands between two `--`."""
    commands: list[list[str]] = [[]]
    for word in after:
        if word == "--":
            commands.append([])
        else:
            commands[-1].append(word)
    return commands


def parameters_of(args: Namespace) -> tuple[str, ...]:
    listed = [Parameter.listed(name, values) for name, values in args.parameter]
    return tuple(parameter.line for parameter in [*listed, *map(Parameter.scanned, args.parameter_scan)])


def _line(words: list[str], shell: str | None) -> str:
    if shell is not None and len(words) == 1:
        return words[0]
    return shlex.join(words if shell is not None else _words(words))


def _words(words: list[str]) -> list[str]:
    if len(words) != 1 or not any(letter.isspace() for letter in words[0]) or shutil.which(words[0]):
        return words
    try:
        return shlex.split(words[0]) or words
    except ValueError as error:
        raise UsageError(f"{words[0]!r} cannot be split into words: {error}") from None


# What `ab` and `calibrate` have in common on the command line, and what they say while they run.


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
    parser.add_argument(
        "--timeout", type=float, default=DEFAULT_TIMEOUT_S, metavar="SECONDS", help="limit of a command's run"
    )
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
                from assay.report.quantity import printable

                print(f"\n{event.record.run_id}: {printable('; '.join(event.record.reasons))}", file=sys.stderr)

    def show_look(self, look: Looked) -> None:
        if not self._quiet:
            settled = ", failed" if look.comparison.failures else ", settled"
            open_entries = f", {look.open} undecided" if look.open else settled
            print(f" {look.pairs} of at most {look.budget} pairs{open_entries}", file=sys.stderr)


def exit_code(ran: SessionRun, *, strict: bool = False) -> int:
    """0 all passed, 1 something did not or missed a gate, 3 it passed and regressed, 130 interrupted; with `strict` 4
    where that cannot be told, or there is nothing to compare with. Warm-ups and repeated attempts do not count."""
    outcomes = [record.outcome for record in ran.records if record.counts or record.outcome is Outcome.INTERRUPTED]
    if ran.interrupted or Outcome.INTERRUPTED in outcomes:
        return 130
    if any(outcome is not Outcome.PASSED for outcome in outcomes):
        return 1
    verdict = ran.verdict
    if verdict is None:
        return 4 if strict else 0
    if (strict or verdict.gates) and verdict.undecided:
        from assay.report.quantity import printable

        print(printable(f"warning: not a pass: {verdict.headline}"), file=sys.stderr)
    return verdict.exit_code * ran.is_gate or (4 if strict and verdict.undecided else 0)
