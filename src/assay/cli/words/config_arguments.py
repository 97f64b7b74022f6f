"""What commands that read session files have in common: which entries and sinks, and how strictly they are read."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import Any

from assay.errors import UsageError


def choice_arguments(parser: Any) -> None:
    """`parser`: an ArgumentParser, or a group of one."""
    parser.add_argument("--entries", metavar="EXPR", help="only these, e.g. 'alm and not (slow* or ray)'")
    parser.add_argument("--entries-exact", metavar="A,B", help="only the entries of these names; each must exist")


def lenient_argument(parser: Any) -> None:
    parser.add_argument(
        "--lenient-config", action="store_true", help="an unset ${VAR} is a warning and empty, not an error"
    )


def no_sink_argument(parser: ArgumentParser) -> None:
    parser.add_argument("--no-sink", metavar="NAME", action="append", default=[], help="leave a sink out")


def strictness_arguments(parser: ArgumentParser) -> None:
    lenient_argument(parser)
    parser.add_argument(
        "--strict-config-check", action="store_true", help="an unset ${VAR} is an error, which it is anyway"
    )


def exact_names(args: Namespace) -> tuple[str, ...] | None:
    if args.entries_exact is None:
        return None
    if args.entries is not None:
        raise UsageError("--entries and --entries-exact choose in two ways: give one")
    names = tuple(name.strip() for name in args.entries_exact.split(",") if name.strip())
    if not names:
        raise UsageError("--entries-exact names no entry; write for example --entries-exact alm_local,alm_ray")
    return names


def is_lenient(args: Namespace) -> bool:
    if args.lenient_config and args.strict_config_check:
        raise UsageError("--lenient-config and --strict-config-check are opposites: give one")
    return bool(args.lenient_config)
