from __future__ import annotations

import logging
import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.benchmarks.benchmark_program import exit_code
from assay.benchmarks.weights.settings import SuiteSettings
from assay.errors import AssayError, UsageError
from assay.process.leftovers import exit_on_termination

if TYPE_CHECKING:
    from assay.benchmarks.weight_scenarios.own_checkpoints import OwnCheckpoints
    from assay.benchmarks.weights.bench_plan import Show
    from assay.benchmarks.weights.results import ResultsFolder


def arguments(parser: ArgumentParser, suite: str | None = None) -> None:
    parser.add_argument(
        "--profile",
        default="standard",
        metavar="P",
        help="quick, standard, full, comprehensive (about 1, 5, 10, 20 minutes), or a YAML file (default: standard)",
    )
    if suite is None:
        parser.add_argument(
            "--suite",
            action="append",
            metavar="S",
            help="run only this suite; one of your own by its dotted path; may be repeated",
        )
        parser.add_argument(
            "--legacy", action="store_true", help="also run benchmark.py of this folder after the suites, if it exists"
        )
    if suite in (None, "compression"):
        parser.add_argument(
            "--checkpoints",
            action="extend",
            nargs="+",
            metavar="FILE",
            help="your own files, oldest first, in place of the suites' data: .safetensors, PyTorch, folders of shards",
        )
    parser.add_argument(
        "--store",
        "--stores",
        dest="store",
        action="extend",
        nargs="+",
        metavar="NAME",
        help="store to measure: small, balanced (default), fast, another, or your own (my_store:MyStore); repeatable",
    )
    parser.add_argument("--peers", action="store_true", help="measure every store that is installed")
    parser.add_argument("--output", metavar="DIR", help="folder for results (default: benchmark_results_<time>)")
    parser.add_argument("--strict", action="store_true", help="fail on any inexact bit")
    parser.add_argument("--verbose", action="store_true", help="log every scenario and its time")
    parser.add_argument("--no-visualize", action="store_true", help="write no report.html with charts")
    parser.add_argument("--benchmark-results-path", metavar="DIR", help="where a session reads the results")


def run(args: Namespace, suite: str | None = None, show: Show | None = None) -> int:
    """`show` tells a person how it goes; without one, a line a scenario does."""
    settings = SuiteSettings.from_environment()
    # Before numba is imported: it reads this once.
    os.environ.update(settings.without_simd())
    _log(settings, args.verbose)

    from assay.benchmarks.weight_scenarios.own_checkpoints import DEFAULT_STORES
    from assay.benchmarks.weights.bench_plan import print_line
    from assay.benchmarks.weights.orchestrator import BenchmarkOrchestrator, run_legacy
    from assay.benchmarks.weights.profile import load_profile, own_suite
    from assay.benchmarks.weights.results import ResultsFolder
    from assay.benchmarks.weights.stores import list_installed_stores, missing_stores
    from assay.benchmarks.weights.tables import comparison
    from assay.compat.user_code import loading_user_code, saying_stand_ins

    profile = load_profile(args.profile)
    checkpoints = _checkpoints(args, suite)
    wanted = [checkpoints.name] if checkpoints else [suite] if suite else args.suite
    suites = list(dict.fromkeys(wanted)) if wanted else profile.suites
    with saying_stand_ins():
        own = {name: own_suite(name) for name in suites if "." in name or ":" in name}
    chosen: dict[str, Any] = {"suites": [own[name].name if name in own else name for name in suites]}
    if checkpoints:
        chosen |= {"checkpoints": args.checkpoints, "stores": profile.stores or list(DEFAULT_STORES)}
    profile = profile.model_copy(update=chosen)
    stores = tuple(list_installed_stores()) if args.peers else tuple(args.store or ())
    if args.peers and missing_stores():
        print(f"not installed, left out: {', '.join(missing_stores())}")
    folder = ResultsFolder.at(args.output, args.benchmark_results_path, profile=profile)
    orchestrator = BenchmarkOrchestrator(
        settings,
        stores,
        strict=args.strict,
        show=show or print_line,
        on_plan=lambda plan: print(f"{plan}\n", flush=True),
        on_suite=folder.add_suite,
    )
    orchestrator.suites.update({each.name: each for each in [*own.values(), *([checkpoints] if checkpoints else [])]})
    try:
        with exit_on_termination(), loading_user_code():  # a scenario may import as well
            results = orchestrator.run_all(profile)
    except BaseException as error:
        folder.write_unfinished()
        if folder.suites or not isinstance(error, AssayError):  # What was asked for cannot be: its message says it all.
            print(_say_kept(folder, len(profile.suites)), file=sys.stderr)
        raise
    if not checkpoints:  # its own table compares the stores
        folder.print_tables(comparison(results))
    folder.write(results, profile, orchestrator)
    for line in results.failures:
        print(f"FAILED {line}", file=sys.stderr)
    print(f"{results.seconds:.0f} s, {results.estimated_s:.0f} s had been estimated; results in {folder.path}")
    legacy = suite is not None or not args.legacy or run_legacy(Path.cwd())
    return 0 if results.success and legacy else 1


def main(suite: str, argv: Sequence[str] | None = None) -> int:
    """A suite as a program: `python -m assay.benchmarks.weights.compression`."""
    parser = ArgumentParser(prog=f"python -m assay.benchmarks.weights.{suite}", allow_abbrev=False)
    arguments(parser, suite)
    return exit_code("assay", lambda: run(parser.parse_args(argv), suite))


def _checkpoints(args: Namespace, suite: str | None) -> OwnCheckpoints | None:
    files = getattr(args, "checkpoints", None)
    if not files:
        return None
    if suite is None and args.suite and args.suite != ["compression"]:
        raise UsageError("--checkpoints is a scenario of the compression suite: leave out --suite")
    from assay.benchmarks.weight_scenarios.own_checkpoints import OwnCheckpoints

    return OwnCheckpoints(files)


def _say_kept(folder: ResultsFolder, planned: int) -> str:
    """What there is of a run that was cut short."""
    names = [suite.suite for suite in folder.suites]
    if not names:
        return f"assay: cut short before any of {planned} suites had ended: there are no results"
    return f"assay: cut short: {len(names)} of {planned} suites had ended ({', '.join(names)}): {folder.path} has them"


def _log(settings: SuiteSettings, verbose: bool) -> None:
    level = logging.getLevelName(settings.log_level)
    logging.basicConfig(format="%(levelname)s %(name)s: %(message)s", stream=sys.stderr)
    logging.getLogger("assay").setLevel(min(level, logging.INFO) if verbose else level)
