from __future__ import annotations

import shlex
import sys
from argparse import ArgumentParser, Namespace
from dataclasses import replace
from typing import TYPE_CHECKING

from assay.api.compare import Sides
from assay.api.experiment import run_experiment
from assay.cli.command_arguments import ExperimentProgress, commands_of, experiment_arguments, experiment_inputs
from assay.cli.compare import missing_base_argument, output_arguments, write
from assay.errors import UsageError
from assay.experiments.variant import HELP, Variant
from assay.record import COMPARISON_FILE

if TYPE_CHECKING:
    from assay.analysis import Comparison
    from assay.api.experiment import ExperimentInputs
    from assay.config.plan import Plan
    from assay.experiments.ab import Found, Pair
    from assay.record import SessionFolder
    from assay.record.session_folder import SessionKind


def arguments(parser: ArgumentParser) -> None:
    parser.usage = (
        "assay ab [options] -- 'COMMAND A' -- 'COMMAND B'\n"
        "       assay ab --config FILE [--entries EXPR] --a KEY=VALUE … --b KEY=VALUE …"
    )
    experiment_arguments(parser, pairs=60)
    for label in ("a", "b"):
        parser.add_argument(f"--{label}", nargs="+", action="extend", default=[], metavar="KEY=VALUE",
                            help=HELP if label == "a" else "the same for the other side")  # fmt: skip
    parser.add_argument("--confirm", action="store_true", help="run what looks regressed again before saying so")
    output_arguments(parser)
    missing_base_argument(parser, "A's revision does not have the configuration yet: B is only run once")
    parser.epilog = (
        "exit code 1 if a run of either side failed; 3 if B is worse than A; with --strict, 4 if that "
        "is inconclusive or nothing could be compared; otherwise 0"
    )


def run(args: Namespace) -> int:
    variants = Variant.parse("a", args.a), Variant.parse("b", args.b)
    commands = commands_of(args.after, most=2)
    _check(args, commands, variants)
    names = _names(commands, variants)
    inputs, progress = experiment_inputs(args, commands), ExperimentProgress(args.quiet)
    sides = Sides(inputs, variants, allow_missing_base=args.allow_missing_base)
    with sides as (pairs, plan):
        if sides.missing_base:
            # One pair of B alone: whether it runs can be told without a base.
            inputs = replace(inputs, budget=replace(inputs.budget, pairs=1, warmup=0))
        found, folder = _ran(inputs, pairs, plan, names, "ab", progress)
        comparison = replace(found.comparison, notes=sides.notes)
        if sides.missing_base:
            comparison = _without_base(comparison, sides.missing_base)
        elif args.confirm:
            comparison = _confirm(inputs, comparison, pairs, plan, names, progress)
    write(comparison, args)
    _keep(comparison, folder)
    return comparison.exit_code(strict=args.strict)


def _check(args: Namespace, commands: list[list[str]], variants: tuple[Variant, Variant]) -> None:
    if bool(args.config) == bool(commands):
        raise UsageError("give two commands (assay ab -- 'A' -- 'B') or --config FILE with --a and --b")
    same = variants[0].words == variants[1].words
    if same and len(commands) < 2:
        raise UsageError("A and B are the same: say what differs with --a and --b (`assay calibrate` runs A against A)")


def _names(commands: list[list[str]], variants: tuple[Variant, Variant]) -> tuple[str, str]:
    if len(commands) == 2:
        return f"A: {shlex.join(commands[0])}", f"B: {shlex.join(commands[1])}"
    return f"A: {variants[0].words}", f"B: {variants[1].words}"


def _ran(
    inputs: ExperimentInputs, pairs: list[Pair], plan: Plan, names: tuple[str, str], kind: SessionKind,
    told: ExperimentProgress,
) -> tuple[Found, SessionFolder]:  # fmt: skip
    command = ["assay", *sys.argv[1:]]
    return run_experiment(inputs, pairs, plan, names, kind, command=command, listen=told.hear, looked=told.show_look)


def _confirm(
    inputs: ExperimentInputs, first: Comparison, pairs: list[Pair], plan: Plan, names: tuple[str, str],
    told: ExperimentProgress,
) -> Comparison:  # fmt: skip
    from assay.experiments.calibration import confirm, suspects

    again = [pair for pair in pairs if pair.name in suspects(first)]
    if not again:
        return first
    fresh = replace(plan, entries=tuple(entry for entry in plan.entries if not entry.is_setup))
    return confirm(first, _ran(inputs, again, fresh, names, "confirm", told)[0].comparison)


def _without_base(comparison: Comparison, why: str) -> Comparison:
    failures = tuple(failure for failure in comparison.failures if failure.side == "B")
    return replace(comparison, rows=(), failures=failures, notes=(why,), missing_base=True)


def _keep(comparison: Comparison, folder: SessionFolder) -> None:
    """Keeps the comparison beside the runs, so that it can be looked at later."""
    from assay.files.json_text import encode
    from assay.files.writing import write_atomic
    from assay.report.session_page import comparison_page

    write_atomic(folder.path / COMPARISON_FILE, encode(comparison.to_json(), indent=2))
    write_atomic(folder.path / "comparison.html", comparison_page(comparison))
