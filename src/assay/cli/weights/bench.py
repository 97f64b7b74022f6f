from __future__ import annotations

import time
from argparse import ArgumentParser, Namespace
from pathlib import Path

from assay.cli.extras import missing
from assay.errors import MissingExtra


def arguments(parser: ArgumentParser) -> None:
    from assay.benchmarks.weights import program

    program.arguments(parser)


def run(args: Namespace) -> int:
    if lacking := missing("weights"):  # before any folder is made
        raise MissingExtra(f"What the suites need ({', '.join(lacking)})", "weights")
    from assay.benchmarks.weights import program
    from assay.cli.kept_environment import keep_environment

    if args.benchmark_results_path:
        return program.run(args)  # A session reads its results, and has the environment itself.
    args.output = args.output or f"benchmark_results_{time.strftime('%Y%m%d_%H%M%S')}"
    code = program.run(args)
    keep_environment(Path(args.output))
    return code
