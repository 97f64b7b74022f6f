from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from assay.cli.extras import missing
from assay.errors import MissingExtra
from assay.record import REPORT_FILE


def arguments(parser: ArgumentParser) -> None:
    from assay.benchmarks.weights import program

    program.arguments(parser)


def run(args: Namespace) -> int:
    if lacking := missing("weights"):  # before any folder is made
        raise MissingExtra(f"What the suites need ({', '.join(lacking)})", "weights")
    from assay.api.console import Console, SuiteView
    from assay.benchmarks.weights import program
    from assay.benchmarks.weights.results import new_folder_name
    from assay.cli.arguments import keep_environment
    from assay.record.secrets import Masker

    if args.benchmark_results_path:
        return program.run(args)  # A session reads its results and has the environment itself; its report shows them.
    args.output = args.output or new_folder_name()
    try:
        with Console(Path(os.devnull), Masker(os.environ), sys.stderr) as console:
            code = program.run(args, show=SuiteView(console))
        keep_environment(Path(args.output))
    finally:
        if not args.no_visualize:
            _draw(Path(args.output))
    return code


def _draw(folder: Path) -> None:
    """Draws the page, also for a run that was cut short: what its suites measured until then. A run that measured
    nothing has no page."""
    from assay.analysis.read_results import is_results_folder, read_results_folder
    from assay.files.writing import write_atomic
    from assay.report.html import render_results

    if not is_results_folder(folder) or set(read_results_folder(folder).script_metrics) <= {"is_success"}:
        return
    page = folder / REPORT_FILE
    write_atomic(page, render_results(folder))
    print(f"report: {page}")
