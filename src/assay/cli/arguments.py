"""What commands that read session files have in common: which entries and sinks, and how strictly they are read."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from assay.api.results_dir import sessions_folder
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


_READ = (
    "where the session folders are (default: $ASSAY_RESULTS_DIR, otherwise where the last `assay run` from this folder "
    "wrote, otherwise ./results)"
)
_WRITTEN = (
    "where the session's folder goes (default: the YAML's results_dir; of a command $ASSAY_RESULTS_DIR, otherwise "
    "./results)"
)


def results_dir_argument(parser: ArgumentParser, writes: bool = False) -> None:
    parser.add_argument("--results-dir", metavar="DIR", type=Path, help=_WRITTEN if writes else _READ)


def results_dir(args: Namespace) -> Path:
    return sessions_folder(args.results_dir)


def keep_environment(folder: Path) -> None:
    """Keeps what results were measured on beside them, for who compares them later; for results that no session keeps.

    One file: the folders beside it are the program's.
    """
    from assay.record import SessionFolder
    from assay.session.capture_environment import capture_environment, freeze

    try:
        with TemporaryDirectory() as lists:
            environment = capture_environment(Path.cwd(), Path(lists))
        known = environment.packages
        others = {name: version for name, version in freeze().items() if name.lower().replace("_", "-") not in known}
        SessionFolder(folder).write_environment(replace(environment, packages={**known, **others}))
    except OSError as error:
        print(f"assay: {folder / 'env.json'} could not be written: {error.strerror}", file=sys.stderr)
