"""Commands of the user's: what stands after `--`."""

from __future__ import annotations

import shlex
import shutil
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence

from assay.config.entries.parameter import Parameter
from assay.errors import UsageError

DEFAULT_SHELL = "sh"


def command_arguments(parser: ArgumentParser) -> None:
    command = parser.add_argument_group("commands, without YAML")
    command.add_argument("--runs", metavar="N", type=int, default=10, help="how often each (default: 10)")
    command.add_argument("--warmup", metavar="N", type=int, default=0, help="runs before, not counted (default: 0)")
    command.add_argument("--timeout", metavar="SECONDS", type=float, default=7200.0, help="limit of each run")
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
