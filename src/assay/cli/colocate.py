from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from assay.errors import UsageError

if TYPE_CHECKING:
    from assay.loadgen.colocation.colocation import Colocation
    from assay.loadgen.colocation.config import ColocationConfig
    from assay.loadgen.colocation.progress import Progress

_EPILOG = """examples:
  assay colocate config.yml                       all pipelines together
  assay colocate config.yml --matrix --repeat 3   each alone, then every pair: who slows whom
  assay colocate config.yml --group a+b+c         each alone, then this group
  assay colocate config.yml --sweep api=50,100,200
  assay colocate config.yml --find-peak api       the highest rate that meets its objectives

exit codes: 0 every pipeline ended well and met its objectives, 1 one did not, 2 usage or configuration"""


def arguments(parser: ArgumentParser) -> None:
    parser.formatter_class = RawDescriptionHelpFormatter
    parser.epilog = _EPILOG
    parser.add_argument("config", type=Path, help="YAML file of pipelines and their load")
    parser.add_argument("--results", type=Path, help="folder for results (default: colocation-results/NAME__TIME)")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--matrix", action="store_true", help="each pipeline alone, then every pair: the slowdown matrix")
    how.add_argument("--group", action="append", metavar="A+B", help="as --matrix, for this group (may be repeated)")
    how.add_argument("--sweep", metavar="NAME=R1,R2,…", help="latency of one pipeline at these rates")
    how.add_argument(
        "--find-peak", metavar="NAME[=START]", help="the highest rate of one pipeline within its objectives"
    )
    how.add_argument("--check", action="store_true", help="only read and check the configuration")
    parser.add_argument("--repeat", type=int, default=1, help="rounds of a matrix (default 1)")
    parser.add_argument("--events", choices=["parquet", "csv", "none"], default="parquet", help="format of the events")
    parser.add_argument("--trace", action="store_true", help="also write trace.json for Perfetto or chrome://tracing")
    parser.add_argument("--quiet", action="store_true", help="no progress while it runs")


def run(args: Namespace) -> int:
    from assay.cli.kept_environment import keep_environment
    from assay.fallback.words import saying_stand_ins
    from assay.loadgen.colocation.colocation import Colocation, folder_name
    from assay.loadgen.colocation.read import read_config

    with saying_stand_ins():
        config = read_config(args.config)
    if args.check:
        print(f"{args.config}: {len(config.pipelines)} pipelines, nothing wrong")
        return 0
    if args.repeat < 1:
        raise UsageError("--repeat must be at least 1")
    stamp = datetime.now(UTC).strftime("%Y-%m-%d__%H-%M-%S")
    results: Path = args.results or Path("colocation-results") / f"{folder_name(config.name)}__{stamp}"
    if results.exists() and any(results.iterdir()):
        raise UsageError(f"{results} is not empty; give another --results")
    colocation = Colocation(config, results, None if args.quiet else _show_progress)
    if args.sweep or args.find_peak:
        good = _rates(args, config, colocation, results)
    elif args.matrix or args.group:
        good = _matrix(args, config, colocation, results)
    else:
        good = _together(args, config, colocation, results)
    keep_environment(results)
    print(f"\nresults: {results}")
    return 0 if good else 1


def _together(args: Namespace, config: ColocationConfig, colocation: Colocation, results: Path) -> bool:
    from assay.loadgen.colocation.figure_lines import figure_lines
    from assay.loadgen.colocation.save import group_json, save_group
    from assay.loadgen.colocation.tables import group_table, stage_table
    from assay.record.atomic_file import write_atomic
    from assay.record.strict_json import encode

    outcome = colocation.run(config.pipelines, "together")
    save_group(outcome, args.events, args.trace)
    write_atomic(results / "colocation.json", encode(group_json(outcome), indent=2))
    print("\n\n".join(filter(None, (group_table(outcome), stage_table(outcome), figure_lines(outcome)))))
    return outcome.success and all(pipeline.result.verdict.valid for pipeline in outcome.pipelines)


def _matrix(args: Namespace, config: ColocationConfig, colocation: Colocation, results: Path) -> bool:
    from assay.loadgen.colocation.matrix import pairs, parse_groups, run_matrix
    from assay.loadgen.colocation.save import matrix_json, save_group
    from assay.loadgen.colocation.tables import group_table, matrix_table, stage_table
    from assay.record.atomic_file import write_atomic
    from assay.record.strict_json import encode

    groups = parse_groups(config, args.group) if args.group else pairs(config)
    matrix = run_matrix(colocation, config, groups, args.repeat)
    for rounds in [*matrix.solo.values(), *matrix.together.values()]:
        for outcome in rounds:
            save_group(outcome, args.events, args.trace)
    write_atomic(results / "colocation.json", encode(matrix_json(matrix), indent=2))
    for title, rounds in [(f"{n} alone", matrix.solo[n]) for n in matrix.names] + [
        (" + ".join(group), matrix.together[group]) for group in matrix.groups
    ]:
        if rounds:
            print(f"{title}\n{group_table(rounds[-1])}\n\n{stage_table(rounds[-1])}\n")
    print(matrix_table(matrix))
    return matrix.success


def _rates(args: Namespace, config: ColocationConfig, colocation: Colocation, results: Path) -> bool:
    from assay.loadgen.colocation.rates import RateTrials
    from assay.loadgen.colocation.save import rates_json
    from assay.loadgen.colocation.tables import trial_table
    from assay.loadgen.latency.peak import find_peak, sweep
    from assay.record.atomic_file import write_atomic
    from assay.record.strict_json import encode

    name, _, words = (args.sweep or args.find_peak).partition("=")
    trials = RateTrials(colocation, config, name)
    try:
        rates = [float(word) for word in words.split(",") if word]
    except ValueError:
        raise UsageError(f"{words!r} are not rates: give numbers joined by commas") from None
    if any(not rate > 0 for rate in rates):
        raise UsageError("a rate must be greater than 0")
    if args.sweep:
        if not rates:
            raise UsageError("--sweep needs rates: --sweep NAME=100,200,400")
        done = sweep(trials.run, rates)
        write_atomic(results / "colocation.json", encode(rates_json(name, done), indent=2))
        print(trial_table(done))
        return all(trial.outcome.result.ending.success for trial in done)
    trials.need_objectives()
    peak = find_peak(trials.run, rates[0] if rates else trials.rate)
    write_atomic(results / "colocation.json", encode(rates_json(name, peak.trials, peak), indent=2))
    print(trial_table(peak.trials))
    if peak.rate is None:
        print(f"\n{name}: no rate tried meets the objectives")
    else:
        print(f"\n{name}: {'peak' if peak.bounded else 'no rate tried failed; at least'} {peak.rate:g} queries/s")
    return peak.rate is not None


def _show_progress(progress: Sequence[Progress]) -> None:
    for line in progress:
        print(line, file=sys.stderr, flush=True)
