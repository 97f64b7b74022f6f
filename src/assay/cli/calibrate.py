from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from assay.api.compare import Sides
from assay.api.experiment import run_experiment
from assay.cli.command_arguments import ExperimentProgress, commands_of, experiment_arguments, experiment_inputs
from assay.errors import UsageError
from assay.experiments.variant import Variant

if TYPE_CHECKING:
    from assay.experiments.ab import Found
    from assay.experiments.calibration import Calibrated


def arguments(parser: ArgumentParser) -> None:
    parser.usage = "assay calibrate [options] -- 'COMMAND'\n       assay calibrate --config FILE [--entries EXPR]"
    experiment_arguments(parser, pairs=20)
    parser.epilog = (
        "runs everything against itself; compare and ab use the noise floor, kept in the results folder; exit code 1 "
        "if a run failed or identical code was called different"
    )


def run(args: Namespace) -> int:
    from assay.analysis.comparison import failure_lines
    from assay.analysis.rules import save_floors
    from assay.experiments.calibration import calibrate, floors
    from assay.report.quantity import printable

    commands = commands_of(args.after, most=1)
    if bool(args.config) == bool(commands):
        raise UsageError("give one command (assay calibrate -- 'COMMAND') or --config FILE")
    args.block = args.pairs
    inputs, told = experiment_inputs(args, commands), ExperimentProgress(args.quiet)
    with Sides(inputs, (Variant("a"), Variant("b"))) as (pairs, plan):
        found, folder = run_experiment(
            inputs, pairs, plan, ("A", "A again"), "calibrate", command=["assay", *sys.argv[1:]],
            listen=told.hear, looked=told.show_look,
        )  # fmt: skip
    measured = calibrate(found)
    if not measured:
        why = f"nothing could be measured: {found.comparison.reason}; the runs are in {folder.path}"
        print(f"assay: {printable(why)}", file=sys.stderr)
        return 1
    path = save_floors(plan.results_dir, floors(found, measured, [pair.name for pair in pairs]))
    print(_table(measured), end="")
    for plan_line in _repeats(found, measured):
        print(plan_line)
    print(f"\nstored in {path}; the runs are in {folder.path}")
    for line in failure_lines(found.comparison.failures):
        print(line, file=sys.stderr)
    return 1 if found.comparison.failures or any(item.suspicious for item in measured) else 0


def _repeats(found: Found, measured: list[Calibrated]) -> list[str]:
    """Where a benchmark iterates within its runs, how often it should."""
    from assay.analysis.judgement import repeat_plan
    from assay.experiments.ab import complete_pairs
    from assay.report.quantity import printable

    plans = [repeat_plan(complete_pairs(found.records, i.row.entry)[0], i.row.metric) for i in measured]
    return [printable(str(plan)) for plan in plans if plan is not None]


def _format_needed(item: Calibrated) -> str:
    from assay.analysis.judgement import TRIED

    return f"over {TRIED[-1]}" if item.pairs_needed is None else str(item.pairs_needed)


def _table(measured: list[Calibrated]) -> str:
    from assay.report.quantity import printable
    from assay.report.text.comparison import interval
    from assay.report.text.screen import text_table

    rows: list[tuple[str, ...]] = [
        ("entry", "metric", "identical code differs by", "noise floor", "pairs for ±3%", "remark")
    ]
    rows += [
        (
            printable(item.row.entry), printable(item.row.metric), interval(item.row), f"{item.floor:.1%}",
            _format_needed(item), "called different: something favours one side" if item.suspicious
            else "; ".join(item.row.notes),
        )
        for item in measured
    ]  # fmt: skip
    return text_table(rows, right=(3, 4)) + "\n"
