from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from assay.errors import AssayError, UsageError

if TYPE_CHECKING:
    from assay.loadgen.colocation.colocation import Colocation
    from assay.loadgen.colocation.colocation_config import ColocationConfig
    from assay.loadgen.colocation.pipeline_worker import PipelineProgress

_EPILOG = """examples:
  assay colocate config.yml                       all pipelines together
  assay colocate config.yml --matrix --repeat 3   each alone, beside its own copy, and every pair: who slows whom
  assay colocate config.yml --group a+b+c         each alone, then this group
  assay colocate config.yml --sweep api=50,100,200
  assay colocate config.yml --policy latency_first  pauses what has no objectives while another's is missed
  assay colocate config.yml --find-peak api       the highest rate that meets its objectives

exit codes: 0 every pipeline ended well and met its objectives, 1 one did not, 2 usage or configuration"""


def arguments(parser: ArgumentParser) -> None:
    parser.formatter_class = RawDescriptionHelpFormatter
    parser.epilog = _EPILOG
    parser.add_argument("config", type=Path, help="YAML file of pipelines and their load")
    parser.add_argument("--results", type=Path, help="folder for results (default: colocation-results/NAME__TIME)")
    how = parser.add_mutually_exclusive_group()
    how.add_argument(
        "--matrix",
        action="store_true",
        help="each pipeline alone, beside its own copy, and every pair: the slowdown matrix",
    )
    how.add_argument("--group", action="append", metavar="A+B", help="as --matrix, for this group (may be repeated)")
    how.add_argument("--sweep", metavar="NAME=R1,R2,…", help="latency of one pipeline at these rates")
    how.add_argument(
        "--find-peak", metavar="NAME[=START]", help="the highest rate of one pipeline within its objectives"
    )
    how.add_argument("--check", action="store_true", help="only read and check the configuration")
    parser.add_argument(
        "--policy",
        metavar="NAME",
        help="who decides while pipelines run: all_at_once, latency_first or a dotted path; instead of the file's",
    )
    parser.add_argument("--no-diagonal", action="store_true", help="--matrix without each pipeline beside its own copy")
    parser.add_argument("--repeat", type=int, default=1, help="rounds of a matrix (default 1)")
    parser.add_argument("--events", choices=["parquet", "csv", "none"], default="parquet", help="format of the events")
    parser.add_argument("--trace", action="store_true", help="also write trace.json for Perfetto or chrome://tracing")
    parser.add_argument("--quiet", action="store_true", help="no progress while it runs")


def run(args: Namespace) -> int:
    from assay.cli.arguments import keep_environment
    from assay.compat.user_code import saying_stand_ins
    from assay.loadgen.colocation.colocation import Colocation, folder_name
    from assay.loadgen.colocation.read_config import read_config

    with saying_stand_ins():
        config = read_config(args.config, args.policy)
    if args.check:
        print(f"{args.config}: {len(config.pipelines)} pipelines, nothing wrong")
        return 0
    if args.repeat < 1:
        raise UsageError("--repeat must be at least 1")
    stamp = datetime.now(UTC).strftime("%Y-%m-%d__%H-%M-%S")
    results: Path = args.results or Path("colocation-results") / f"{folder_name(config.name)}__{stamp}"
    if results.exists() and any(results.iterdir()):
        raise UsageError(f"{results} is not empty; give another --results")
    if args.events == "parquet" and find_spec("pyarrow") is None:
        print("assay: events are kept as CSV; Parquet needs: pip install 'assay-bench[loadgen]'", file=sys.stderr)
    colocation = Colocation(config, results, None if args.quiet else _show_progress)
    if args.sweep or args.find_peak:
        good = _rates(args, config, colocation, results)
    elif args.matrix or args.group:
        good = _matrix(args, config, colocation, results)
    else:
        good = _together(args, config, colocation, results)
    keep_environment(results)
    print(f"\nresults: {results}")
    _write_page(results)
    return 0 if good else 1


def _write_page(results: Path) -> None:
    """What was measured is on disk: a page that cannot be written changes nothing of it."""
    from assay.report.html import write_colocation_page

    try:
        print(f"report: {write_colocation_page(results)}")
    except (AssayError, OSError) as error:
        print(f"assay: the page was not written: {error}", file=sys.stderr)


def _together(args: Namespace, config: ColocationConfig, colocation: Colocation, results: Path) -> bool:
    from assay.loadgen.colocation.colocation import ColocatedRun
    from assay.loadgen.colocation.result_files import save_group, write_colocation
    from assay.loadgen.colocation.tables import run_text

    outcome = colocation.run(config.pipelines, "together")
    save_group(outcome, args.events, args.trace)
    write_colocation(results, config, "together", [ColocatedRun("together", outcome)])
    print(run_text(outcome))
    return outcome.success and all(pipeline.result.verdict.valid for pipeline in outcome.pipelines)


def _matrix(args: Namespace, config: ColocationConfig, colocation: Colocation, results: Path) -> bool:
    from assay.loadgen.colocation.colocation import pairs, parse_groups, run_matrix
    from assay.loadgen.colocation.result_files import save_group, write_colocation
    from assay.loadgen.colocation.tables import matrix_text

    groups = parse_groups(config, args.group) if args.group else pairs(config, diagonal=not args.no_diagonal)
    keep = partial(save_group, events=args.events, trace=args.trace)
    matrix = run_matrix(colocation, config, groups, args.repeat, keep)
    write_colocation(results, config, "matrix", matrix.runs, matrix.contrasts)
    print(matrix_text(matrix))
    return matrix.success


def _rates(args: Namespace, config: ColocationConfig, colocation: Colocation, results: Path) -> bool:
    from assay.loadgen.colocation.rate_search import search_rates
    from assay.loadgen.colocation.result_files import write_colocation
    from assay.loadgen.colocation.tables import rate_text

    search = search_rates(colocation, config, args.sweep or args.find_peak, peak=not args.sweep)
    write_colocation(results, config, "rates", search.runs, rates=search)
    print(rate_text(search))
    return search.success


def _show_progress(progress: Sequence[PipelineProgress]) -> None:
    for line in progress:
        print(line, file=sys.stderr, flush=True)
