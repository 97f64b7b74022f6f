"""`assay run --join NAME`: one job of many. What its words mean together is checked here."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from pathlib import Path

from assay.api.console import Voice
from assay.api.joined import finish_joined, run_joined
from assay.api.run import Change, SessionRun, inputs_of, run_new, run_on
from assay.api.run_inputs import RunInputs
from assay.cli.arguments import (
    choice_arguments,
    exact_names,
    is_lenient,
    no_sink_argument,
    results_dir,
    results_dir_argument,
    strictness_arguments,
)
from assay.cli.command_arguments import (
    command_arguments,
    command_lines,
    exit_code,
    one_command,
    parameters_of,
    several_commands,
)
from assay.config.entry_name import check_tag, check_template
from assay.config.plan import Plan
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
        return 1 if finished.folder.info().status == "interrupted" else exit_code(finished, strict=args.strict)
    if args.after:
        raise UsageError("--join goes with --config or --matrix: a command has no entries that jobs could share")
    expect = names(args.expect, "--expect")
    ran = run_joined(inputs(), args.join, expect=expect, reason=args.reason, command=command)
    return exit_code(ran, strict=args.strict and ran.verdict is not None)


def names(given: str | None, option: str) -> tuple[str, ...]:
    """`A,B` in the order given, each once."""
    if given is None:
        return ()
    found = tuple(dict.fromkeys(name.strip() for name in given.split(",") if name.strip()))
    if not found:
        raise UsageError(f"{option} {given!r} names no entry: write {option} A,B")
    return found


_SAID_BEFORE = (
    "config", "matrix", "datasets", "entries", "entries_exact", "set", "session_name", "reason", "viewer_url",
    "viewer_url_template", "strict_config_check", "prepare", "cleanup", "parameter", "parameter_scan", "shell", "tags",
)  # fmt: skip


def arguments(parser: ArgumentParser) -> None:
    parser.usage = (
        "assay run --config FILE [options]  |  assay run [options] -- COMMAND [ARGUMENT …] [-- COMMAND …]  |  "
        "assay run --join NAME --finish"
    )
    what = parser.add_argument_group("what to run")
    what.add_argument(
        "--config", metavar="FILE", action="append", default=[], help="session YAML; several are merged, later wins"
    )
    choice_arguments(what)
    what.add_argument("--set", metavar="KEY=VALUE", action="append", default=[], help="e.g. entries.NAME.timeout_s=60")
    what.add_argument("--resume", metavar="SESSION", help="go on with a session that was cut short")
    what.add_argument("--list", action="store_true", help="print the entries' names and stop")
    many = parser.add_argument_group("many jobs, one session")
    many.add_argument("--join", metavar="NAME", help="run as one job of session NAME; the first job makes it")
    many.add_argument("--expect", metavar="A,B", help="finish the session when all of these entries are there")
    many.add_argument("--finish", action="store_true", help="run nothing: finish the session with what is there")
    older = parser.add_argument_group("the older form")
    older.add_argument("--matrix", metavar="FILE", help="matrix YAML")
    older.add_argument("--datasets", metavar="FILE", help="JSON with the data sets' paths")
    older.add_argument("--sink", metavar="NAME", help="mlflow, wandb, none, or your own: its name or dotted path")
    command_arguments(parser)
    parser.add_argument("--session-name", metavar="NAME", help="the time is appended (older form: used as it is)")
    parser.add_argument("--reason", metavar="TEXT", help="why this is run; kept with the results")
    parser.add_argument(
        "--tag", metavar="TAG", action="append", default=[], dest="tags",
        help="what the session is found by on the dashboard; may be given several times",
    )  # fmt: skip
    viewer = parser.add_mutually_exclusive_group()
    viewer.add_argument("--viewer-url", metavar="URL", help="where the session can be looked at, for sinks to show")
    viewer.add_argument(
        "--viewer-url-template",
        metavar="URL",
        help="the same with {results_path}, {session_name}, {session_path}, or …_url of each for an encoded one",
    )
    loudness = parser.add_mutually_exclusive_group()
    loudness.add_argument("--quiet", action="store_true", help="only the result")
    loudness.add_argument("--verbose", action="store_true", help="every line of session.log too")
    strictness_arguments(parser)
    parser.add_argument(
        "--strict", action="store_true", help="exit code 4 if a gate cannot tell or has nothing to compare with"
    )
    no_sink_argument(parser)
    parser.add_argument(
        "--profile-regressed", action="store_true", help="run what regressed once more under py-spy, for the report"
    )
    results_dir_argument(parser, writes=True)


def run(args: Namespace) -> int:
    if args.list:
        inputs = _inputs(args) if args.resume is None else inputs_of(args.resume, results_dir(args), _change(args))
        plan = inputs.plan()
        _print_warnings(plan)
        print("\n".join(entry.name for entry in plan.entries))
        return 0
    if args.join is not None or args.finish or args.expect:
        return join(args, lambda: _inputs(args))
    if args.resume is not None:
        ran = run_on(args.resume, results_dir(args), _change(args), _voice(args))
        if ran.untouched:
            _print_warnings(ran.plan)
            name = ran.folder.path.name
            print(f"Session {name} is complete: there is nothing to resume. Look at it: assay show {name}")
    else:
        inputs = _inputs(args)
        command = ["assay", *sys.argv[1:]]
        ran = run_new(inputs, name=args.session_name, reason=args.reason, command=command, voice=_voice(args))
    if args.profile_regressed and not ran.interrupted:
        _profile(ran)
    return exit_code(ran, strict=args.strict)


def _voice(args: Namespace) -> Voice:
    return Voice.QUIET if args.quiet else Voice.VERBOSE if args.verbose else Voice.NORMAL


def _print_warnings(plan: Plan) -> None:
    for warning in plan.warnings:
        print(f"warning: {warning}", file=sys.stderr)


def _change(args: Namespace) -> Change:
    """What may be said anew to a session that goes on; everything else was said when it began."""
    given = {name: getattr(args, name) for name in _SAID_BEFORE}
    if args.after or any(given.values()):
        which = next((f"--{name.replace('_', '-')}" for name, value in given.items() if value), "a command")
        raise UsageError(f"--resume goes on with what the session was started with: leave out {which}")
    return Change(args.lenient_config, tuple(args.no_sink))


def _profile(ran: SessionRun) -> None:
    from assay.api.run_plan import profile_regressed  # numpy comes with it

    profiles = profile_regressed(ran, ["assay", *sys.argv[1:]])
    if not profiles:
        print("Nothing regressed: nothing to profile.")
    for profile in profiles:
        if profile.graph is not None:
            print(f"Flame graph: {profile.graph}")
        else:
            print(f"{profile.entry} could not be profiled: {profile.why}", file=sys.stderr)


def _template(written: str | None) -> str | None:
    try:
        return None if written is None else check_template(written)
    except ValueError as error:
        raise UsageError(f"--viewer-url-template: {error}") from None


def _tag(written: str) -> str:
    try:
        return check_tag(written)
    except ValueError as error:
        raise UsageError(f"--tag: {error}") from None


def _inputs(args: Namespace) -> RunInputs:
    ways = [bool(args.config), args.matrix is not None, bool(args.after)]
    if sum(ways) != 1:
        raise UsageError(
            "give one of: --config FILE, --matrix FILE, --resume SESSION, -- COMMAND; `assay init` makes a first config"
        )
    if args.datasets and args.matrix is None:
        raise UsageError(
            "--datasets goes with --matrix; in the newer form data sets are listed in the YAML under `datasets:`"
        )
    if args.sink and args.matrix is None:
        raise UsageError("--sink goes with --matrix; in the newer form sinks are listed in the YAML under `sinks:`")
    if args.runs < 1 or args.warmup < 0 or args.timeout <= 0:
        raise UsageError("--runs must be at least 1, --warmup at least 0, --timeout above 0")
    several = several_commands(args)
    if several and not args.after:
        raise UsageError("--prepare, --cleanup, --parameter and --shell go with commands: assay run … -- COMMAND")
    return RunInputs(
        config=tuple(str(Path(file).absolute()) for file in args.config),
        matrix=str(Path(args.matrix).absolute()) if args.matrix else None,
        datasets=str(Path(args.datasets).absolute()) if args.datasets else None,
        sink=args.sink or "none",
        set=tuple(args.set),
        entries=args.entries,
        entries_exact=exact_names(args),
        lenient_config=is_lenient(args),
        viewer_url=args.viewer_url,
        viewer_url_template=_template(args.viewer_url_template),
        no_sink=tuple(args.no_sink),
        results_dir=str(args.results_dir.absolute()) if args.results_dir else None,
        command=() if several else one_command(args),
        commands=command_lines(args) if several else (),
        prepare=tuple(args.prepare),
        cleanup=tuple(args.cleanup),
        parameters=parameters_of(args),
        shell=args.shell,
        runs=args.runs,
        warmup=args.warmup,
        timeout_s=args.timeout,
        tags=tuple(_tag(tag) for tag in args.tags),
    )
