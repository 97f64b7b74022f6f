from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from assay.cli.arguments import results_dir, results_dir_argument

if TYPE_CHECKING:
    from assay.record import SessionFolder


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "session", nargs="?", default="latest", help="latest, latest~1, a name, a folder, a git revision"
    )
    parser.add_argument(
        "--entry", metavar="NAME", help="one entry in full: parameters, requirements, metrics, tasks, its log's path"
    )
    parser.add_argument("--json", action="store_true", help="the records, one JSON object a line")
    results_dir_argument(parser)


def run(args: Namespace) -> int:
    from assay.history import find_session

    folder = find_session(args.session, results_dir(args))
    if args.json:
        _print_json(folder, args.entry)
    else:
        _print_text(folder, args.entry)
    return 0


def _print_text(folder: SessionFolder, entry: str | None) -> None:
    from assay.api.console import resume_words
    from assay.api.session_changes import SessionChanges
    from assay.report.text.screen import Screen

    screen, changes = Screen.of(), SessionChanges.of(folder)
    if entry is not None:
        from assay.report.text.entry import entry_details

        print(entry_details(folder, entry, regressed=changes.regressed, screen=screen), end="")
        return
    from assay.api.session_changes import session_text
    from assay.report.quantity import printable

    if folder.info().of_commands:  # which say their result alone at their end
        print(f"{screen.paint('bold', printable(folder.info().name))}\n")
    print(session_text(folder, changes.comparison, changes.last, screen, verdict=changes.verdict), end="")
    if folder.info().status == "interrupted":
        print(f"\ninterrupted; continue: `{resume_words(folder)}`")


def _print_json(folder: SessionFolder, entry: str | None) -> None:
    from assay.files.json_text import encode

    for record in folder.records():
        if entry is None or record.name == entry:
            print(encode(record.to_json()))
