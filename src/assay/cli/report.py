from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from assay.cli.results_dir import results_dir, results_dir_argument


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "session", nargs="?", default="latest", help="latest, latest~1, a name, a folder, a git revision"
    )
    parser.add_argument(
        "--output", "-o", type=Path, metavar="FILE", help="instead of report.html in the session folder"
    )
    results_dir_argument(parser)


def run(args: Namespace) -> int:
    from assay.history import find_session
    from assay.report.html import write_report

    path = write_report(find_session(args.session, results_dir(args)), to=args.output)
    print(path)
    return 0
