from __future__ import annotations

import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from io import TextIOWrapper

from assay.cli.command import COMMANDS
from assay.errors import AssayError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

EXIT_CODES = """exit codes:
  0  all passed
  1  an entry failed or missed a requirement
  2  usage or configuration
  3  regressed
  4  inconclusive, with --strict
  130  interrupted"""


def main(argv: Sequence[str] | None = None) -> int:
    words = list(sys.argv[1:] if argv is None else argv)
    words, after = _split(words)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # A terminal that cannot show a sign gets a stand-in for it, not a crash.
            stream.reconfigure(errors="replace")
    parser = _parser(words)
    try:
        args = parser.parse_args(words)
        args.after = after
        return int(args.command_module.run(args))
    except AssayError as error:
        print(f"assay: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("assay: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader of our output has gone (`assay show | head`): nothing is wrong.
        sys.stderr.close()
        return 0


def _split(words: list[str]) -> tuple[list[str], list[str] | None]:
    """What stands after `--` is a command of the user's, never ours to parse."""
    if "--" not in words:
        return words, None
    at = words.index("--")
    return words[:at], words[at + 1 :]


def _parser(words: Sequence[str]) -> ArgumentParser:
    """Only the command that is asked for is imported; the others are names with a summary."""
    parser = ArgumentParser(
        prog="assay",
        description="Run benchmarks of machine-learning pipelines, keep every result, say what changed.",
        epilog=EXIT_CODES,
        formatter_class=RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=_version())
    commands = parser.add_subparsers(metavar="command", required=True)
    asked = next((word for word in words if not word.startswith("-")), None)
    for command in COMMANDS:
        sub = commands.add_parser(command.name, help=command.summary, description=command.summary, allow_abbrev=False)
        if command.name == asked:
            module = command.module()
            module.arguments(sub)
            sub.set_defaults(command_module=module)
    return parser


def _version() -> str:
    from assay import __version__

    return f"assay {__version__}"


if __name__ == "__main__":
    raise SystemExit(main())
