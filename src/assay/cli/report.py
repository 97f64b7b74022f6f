from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from assay.cli.results_dir import results_dir, results_dir_argument
from assay.errors import UsageError

if TYPE_CHECKING:
    from assay.record import SessionFolder


FORMATS = ("html", "markdown")


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "session", nargs="?", default="latest", help="latest, latest~1, a name, a folder, a git revision"
    )
    parser.add_argument("--against", metavar="SESSION", help="what to compare with (default: the last comparable runs)")
    parser.add_argument("--format", choices=FORMATS, help="default: html, or by the name of --output")
    parser.add_argument(
        "--output", "-o", type=Path, metavar="FILE", help="instead of report.html in the session folder; - to print it"
    )
    results_dir_argument(parser)


def run(args: Namespace) -> int:
    from assay.history import find_session
    from assay.record.atomic_file import write_atomic

    folder = find_session(args.session, results_dir(args))
    markdown = (args.format or ("markdown" if args.output and args.output.suffix == ".md" else "html")) == "markdown"
    text = _rendered(folder, args, markdown)
    if str(args.output) == "-":
        sys.stdout.write(text)
        return 0
    path = args.output or (folder.path / "report.md" if markdown else folder.report)
    try:
        write_atomic(path, text)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None
    print(path)
    return 0


def _rendered(folder: SessionFolder, args: Namespace, markdown: bool) -> str:
    from assay.analysis.compare_sessions import compare_sessions
    from assay.history import History, find_session
    from assay.history.history import FILE_NAME
    from assay.report.html import render_report
    from assay.report.markdown import session_markdown

    render = session_markdown if markdown else render_report
    beside = folder.path.absolute().parent
    if args.against:
        base = find_session(args.against, results_dir(args))
        names = base.info().name, folder.info().name
        comparison = compare_sessions(base.records(), folder.records(), beside, names=names)
        return render(folder, comparison=comparison)
    if not (beside / FILE_NAME).is_file():
        return render(folder)
    with History.beside(beside, read_only=True) as history:
        return render(folder, history=history)
