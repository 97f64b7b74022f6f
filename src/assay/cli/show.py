from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from assay.cli.results_dir import results_dir, results_dir_argument

if TYPE_CHECKING:
    from assay.record import SessionFolder


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "session", nargs="?", default="latest", help="latest, latest~1, a name, a folder, a git revision"
    )
    parser.add_argument("--entry", metavar="NAME", help="every metric of one entry")
    parser.add_argument("--json", action="store_true", help="the records, one JSON object a line")
    results_dir_argument(parser)


def run(args: Namespace) -> int:
    from assay.history import find_session
    from assay.report.terminal import coloured, entry_details, session_summary

    folder = find_session(args.session, results_dir(args))
    if args.json:
        _print_json(folder, args.entry)
    elif args.entry is not None:
        print(entry_details(folder, args.entry), end="")
    else:
        print(session_summary(folder, colour=coloured()), end="")
    return 0


def _print_json(folder: SessionFolder, entry: str | None) -> None:
    from assay.record.strict_json import encode

    for record in folder.records():
        if entry is None or record.name == entry:
            print(encode(record.to_json()))
