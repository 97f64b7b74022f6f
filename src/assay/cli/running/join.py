"""`assay run --join NAME`: one job of many. What its words mean together is checked here."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Callable

from assay.api.joined.finish_joined import finish_joined
from assay.api.joined.run_joined import run_joined
from assay.api.running.run_inputs import RunInputs
from assay.cli.words.exit_code import exit_code
from assay.cli.words.results_dir import results_dir
from assay.errors import UsageError


def join(args: Namespace, inputs: Callable[[], RunInputs]) -> int:
    if args.join is None:
        raise UsageError(f"{'--finish' if args.finish else '--expect'} goes with --join NAME")
    for word, given in (("--resume", args.resume), ("--session-name", args.session_name)):
        if given is not None:
            raise UsageError(f"--join NAME names the session: leave {word} out")
    if args.profile_regressed:
        raise UsageError("--profile-regressed goes with a session of one process, not with --join")
    command = ["assay", *sys.argv[1:]]
    if args.finish:
        if args.config or args.matrix or args.after or args.expect or args.entries or args.entries_exact:
            raise UsageError(
                "--finish runs nothing: leave out what to run and --expect; "
                "--results-dir DIR says where the session is, if not in ./results"
            )
        finished = finish_joined(args.join, results_dir(args), command)
        return 1 if finished.folder.info().status == "interrupted" else exit_code(finished)
    if args.after:
        raise UsageError("--join goes with --config or --matrix: a command has no entries that jobs could share")
    expect = names(args.expect, "--expect")
    return exit_code(run_joined(inputs(), args.join, expect=expect, reason=args.reason, command=command))


def names(given: str | None, option: str) -> tuple[str, ...]:
    """`A,B` in the order given, each once."""
    if given is None:
        return ()
    found = tuple(dict.fromkeys(name.strip() for name in given.split(",") if name.strip()))
    if not found:
        raise UsageError(f"{option} {given!r} names no entry: write {option} A,B")
    return found
