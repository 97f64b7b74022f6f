from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from assay.cli.arguments import results_dir, results_dir_argument
from assay.errors import UsageError
from assay.record import REPORT_FILE

if TYPE_CHECKING:
    from assay.record import SessionFolder


FORMATS = ("html", "markdown")


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "session",
        nargs="?",
        default="latest",
        help="latest, latest~1, a name, a folder of any results, a git revision",
    )
    parser.add_argument("--against", metavar="SESSION", help="what to compare with (default: the last comparable runs)")
    parser.add_argument("--format", choices=FORMATS, help="default: html, or by the name of --output")
    parser.add_argument(
        "--output", "-o", type=Path, metavar="FILE", help="instead of report.html in the session folder; - to print it"
    )
    results_dir_argument(parser)


def run(args: Namespace) -> int:
    from assay.history import find_session

    if _is_colocation(Path(args.session)):
        return _colocation(args)
    if (left := _left_alone(Path(args.session))) is not None:
        return _results(args, left)
    folder = find_session(args.session, results_dir(args))
    markdown = (args.format or ("markdown" if args.output and args.output.suffix == ".md" else "html")) == "markdown"
    text = _render(folder, args, markdown)
    return _put(text, args, folder.path / "report.md" if markdown else folder.report)


def _put(text: str, args: Namespace, usual: Path) -> int:
    from assay.files.writing import write_atomic

    if str(args.output) == "-":
        sys.stdout.write(text)
        return 0
    path = args.output or usual
    try:
        write_atomic(path, text)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None
    print(path)
    return 0


def _is_colocation(folder: Path) -> bool:
    """What `assay colocate` left, which is no session."""
    from assay.analysis.colocation.colocation_result import colocation_file
    from assay.record import SessionFolder

    return colocation_file(folder) is not None and not SessionFolder.is_one(folder)


def _colocation(args: Namespace) -> int:
    from assay.report.html import render_colocation

    if args.against or args.format == "markdown" or (args.output and args.output.suffix == ".md"):
        raise UsageError(
            f"{args.session} holds a colocation, not a session: its report is HTML and is compared with nothing; "
            "`assay compare` compares two such folders"
        )
    folder = Path(args.session)
    return _put(render_colocation(folder), args, folder / REPORT_FILE)


def _left_alone(folder: Path) -> Path | None:
    """Where a program that was run alone, or one run of a session, left its metrics."""
    from assay.analysis.read_results import is_results_folder

    return next((place for place in (folder, folder / "benchmark_results") if is_results_folder(place)), None)


def _results(args: Namespace, folder: Path) -> int:
    from assay.report.html import render_results

    if args.against or args.format == "markdown" or (args.output and args.output.suffix == ".md"):
        raise UsageError(f"{args.session} is no session: its report is HTML; `assay compare` compares such folders")
    return _put(render_results(folder), args, folder / REPORT_FILE)


def _render(folder: SessionFolder, args: Namespace, markdown: bool) -> str:
    from assay.analysis.compare_records import compare_sessions
    from assay.history import History, find_session
    from assay.history.history import FILE_NAME
    from assay.report.html import render_report
    from assay.report.markdown import session_markdown

    render = session_markdown if markdown else render_report
    beside = folder.path.absolute().parent
    comparison = base = None
    if args.against:
        against = find_session(args.against, results_dir(args))
        base, names = against.records(), (against.info().name, folder.info().name)
        comparison = compare_sessions(base, folder.records(), beside, names=names)
    if not (beside / FILE_NAME).is_file():
        return render(folder, comparison=comparison, base=base)
    with History.beside(beside, read_only=True) as history:
        return render(folder, history=history, comparison=comparison, base=base)
