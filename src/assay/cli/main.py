from __future__ import annotations

import argparse
import os
import signal
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter

from assay.cli.command_table import COMMANDS, Command, put_results_dir, take_results_dir
from assay.cli.standard_streams import StandardStream, take_standard_streams
from assay.errors import AssayError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from typing import Any, NoReturn

BUILT = "commit.txt"
"""Written into sdist and wheel by hatch_build.py; a checkout asks git."""
EXIT_CODES = """exit codes:
  0  all passed
  1  an entry failed or missed a requirement, `max_regression` included; of a comparison: a run failed
  2  usage or configuration
  3  a comparison found a regression
  4  cannot tell, or nothing to compare with, with --strict
  130  interrupted"""


def main(argv: Sequence[str] | None = None) -> int:
    output = take_standard_streams() if argv is None else None
    words, after = _split(list(sys.argv[1:] if argv is None else argv))
    if output is None:
        return _run(words, after)[1]
    try:
        command, code = _run(words, after)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # All is done: one more Ctrl-C has nothing to interrupt.
    except KeyboardInterrupt:  # a second one, while the first was told of
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        return 130
    return _check_output(output, command, code)


def _run(words: list[str], after: list[str] | None) -> tuple[Command | None, int]:
    command: Command | None = None
    try:
        left, results_dir = take_results_dir(words)
        command = _find_command(left)
        args = _parser(command).parse_args(left)
        args.after = after
        put_results_dir(args, results_dir)
        return command, int(args.command_module.run(args))
    except AssayError as error:
        print(f"assay: {_clean(str(error), [*words, *(after or ())])}", file=sys.stderr)
        return command, error.exit_code
    except OSError as error:
        if error.errno is None or error.strerror is None:
            raise  # Not the system's word: a fault of ours.
        where = f": {_place(error)}" if error.filename is not None else ""
        message = _clean(f"the system refused: {error.strerror}{where}", [*words, *(after or ())])
        print(f"assay: {message}", file=sys.stderr)
        return command, UsageError.exit_code
    except KeyboardInterrupt:
        print("assay: interrupted", file=sys.stderr)
        return command, 130


def _clean(message: str, words: list[str]) -> str:
    """Without secrets, and without anything that moves a terminal's cursor: a message quotes what others wrote."""
    from assay.record.secrets import Masker, secrets_of_words
    from assay.report.quantity import printable

    return printable(Masker(os.environ, secrets_of_words(words)).text(message), keep_lines=True)


def _place(error: OSError) -> str:
    """The error's file on one line, whatever its name holds."""
    name = os.fsdecode(error.filename) if isinstance(error.filename, bytes) else str(error.filename)
    return name if name.isprintable() else repr(name)


def _check_output(output: StandardStream, command: Command | None, code: int) -> int:
    """Exit code after writing. A reader that has left (`assay show | head`) heard enough; any other failed write lost
    what was said."""
    sys.stdout.flush()
    if output.failure is None or isinstance(output.failure, BrokenPipeError):
        return code
    kept = command is not None and command.kept
    where = "; session.log in the session's folder has what was said" if kept else ""
    print(f"assay: standard output could not be written: {output.failure.strerror}{where}", file=sys.stderr)
    return code if kept else code or 1


def _split(words: list[str]) -> tuple[list[str], list[str] | None]:
    """What stands after `--` is a command of the user's, never ours to parse."""
    if "--" not in words:
        return words, None
    at = words.index("--")
    return words[:at], words[at + 1 :]


def _find_command(words: Sequence[str]) -> Command | None:
    name = next((word for word in words if not word.startswith("-")), None)
    return next((command for command in COMMANDS if command.name == name), None)


class _Parser(ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Quote what was typed, but not the secrets in it."""
        super().error(_clean(message, [*sys.argv[1:], *message.split()]))


def _parser(asked: Command | None) -> ArgumentParser:
    """Only the command that is asked for is imported; the others are names with a summary."""
    parser = _Parser(
        prog="assay",
        description="Run benchmarks of machine-learning pipelines, keep every result, say what changed.",
        epilog=EXIT_CODES,
        formatter_class=RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action=ShowVersion)
    commands = parser.add_subparsers(metavar="command", required=True)
    for command in COMMANDS:
        sub = commands.add_parser(command.name, help=command.summary, description=command.summary, allow_abbrev=False)
        if command is asked:
            module = command.module()
            module.arguments(sub)
            sub.set_defaults(command_module=module)
    return parser


BUILT = "commit.txt"
"""Written into sdist and wheel by hatch_build.py; a checkout asks git."""


class ShowVersion(argparse.Action):
    """Asks git only when somebody wants to know."""

    def __init__(self, option_strings: list[str], dest: str, **more: Any) -> None:
        super().__init__(option_strings, dest, nargs=0, default=argparse.SUPPRESS, help="version and commit, then exit")

    def __call__(self, parser: argparse.ArgumentParser, *given: Any) -> None:
        print(version_text())
        parser.exit()


def version_text() -> str:
    from pathlib import Path

    from assay import __version__

    commit = commit_of(Path(__file__).parent.parent)
    return f"assay {__version__} ({commit})" if commit else f"assay {__version__}"


def commit_of(package: Path) -> str:
    """`commit 0123456789ab`, with `, changed` where files of the checkout differ from it; empty where nobody knows."""
    built = package / BUILT
    if built.is_file():
        return f"commit {built.read_text(encoding='utf-8').strip()}"
    checkout = package.parent.parent
    if not (checkout / ".git").exists():
        return ""
    commit = _git(checkout, "rev-parse", "--short=12", "HEAD")
    changed = ", changed" if commit and _git(checkout, "status", "--porcelain", "--untracked-files=no") else ""
    return f"commit {commit}{changed}" if commit else ""


def _git(folder: Path, *words: str) -> str:
    """Its answer; empty where git is missing, slow or refuses."""
    import subprocess

    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *words], capture_output=True, text=True, check=False, timeout=10
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


if __name__ == "__main__":
    raise SystemExit(main())
