from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from assay.cli.arguments import results_dir, results_dir_argument
from assay.errors import UsageError

SESSIONS = 20


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("directory", type=Path, metavar="DIR", help="new, empty, or written by an earlier `publish`")
    parser.add_argument(
        "--sessions", type=int, default=SESSIONS, metavar="N",
        help=f"newest sessions that get a page of their own (default: {SESSIONS})",
    )  # fmt: skip
    results_dir_argument(parser)


def run(args: Namespace) -> int:
    from assay.server.session_store import Store
    from assay.server.site import Site

    folder = results_dir(args)
    if not folder.is_dir():
        raise UsageError(f"{folder} is not a folder: run something first, or name another with --results-dir")
    if args.sessions < 0:
        raise UsageError(f"--sessions must be at least 0, not {args.sessions}")
    _refuse_foreign(args.directory)
    try:
        made = Site(Store(folder), args.sessions).write(args.directory, _tell if sys.stderr.isatty() else _quiet)
    except OSError as error:
        raise UsageError(f"{args.directory} cannot be written: {error.strerror}: {error.filename}") from None
    for problem in made.left_out:
        print(f"warning: {problem}", file=sys.stderr)
    print(f"{made.folder}: {made.pages} pages, {made.bytes / 1e6:.1f} MB; open index.html on any web host")
    return 0


def _refuse_foreign(folder: Path) -> None:
    """A folder that holds something else is not written into."""
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file: name a folder")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / "static" / "grid.js").is_file():
        raise UsageError(f"{folder} holds something that `assay publish` did not write: name a new or empty folder")


def _tell(done: int, total: int) -> None:
    print(f"\r{done} of {total} pages", end="" if done + 1 < total else "\n", file=sys.stderr, flush=True)


def _quiet(done: int, total: int) -> None:
    pass
