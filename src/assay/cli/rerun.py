from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace

from assay.api.run import Change, run_again
from assay.cli.arguments import lenient_argument, no_sink_argument, results_dir, results_dir_argument
from assay.cli.command_arguments import exit_code


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "run", metavar="RUN", help="a run's id, or SESSION/ENTRY; `latest/ENTRY` is the newest session's"
    )
    lenient_argument(parser)
    no_sink_argument(parser)
    results_dir_argument(parser)


def run(args: Namespace) -> int:
    change = Change(args.lenient_config, tuple(args.no_sink))
    return exit_code(run_again(args.run, results_dir(args), ["assay", *sys.argv[1:]], change))
