from __future__ import annotations

import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator
from pathlib import Path

from assay.cli.arguments import results_dir, results_dir_argument
from assay.files.reading import open_regular

POLL_S = 0.2
_STREAMS = {"stdout": " to standard output", "stderr": " to standard error"}


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("entry", help="name of the entry")
    parser.add_argument("--session", default="latest", help="latest, latest~1, a name, a folder, a git revision")
    parser.add_argument("--repeat", type=int, metavar="N", help="which run, where an entry has several (default: last)")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--stdout", action="store_true", help="only what it printed to standard output")
    which.add_argument("--stderr", action="store_true", help="only what it printed to standard error")
    which.add_argument("--ray", action="store_true", help="what its Ray cluster printed when it started")
    which.add_argument("--service", action="store_true", help="what the server of its `service:` printed")
    parser.epilog = "Control characters are escaped in a terminal; into a pipe or a file they pass as they are."
    parser.add_argument("--follow", "-f", action="store_true", help="go on printing until the session has ended")
    results_dir_argument(parser)


def run(args: Namespace) -> int:
    from assay.history import find_session
    from assay.names import quote
    from assay.report.entry_page import EntryLog
    from assay.report.quantity import printable

    folder = find_session(args.session, results_dir(args))
    stream = next((name for name in ("stdout", "stderr", "ray", "service") if getattr(args, name)), "both")
    log = EntryLog.find(folder, args.entry, stream, args.repeat)
    if log.note:
        print(f"assay: {printable(log.note)}", file=sys.stderr)
    safe, silent = sys.stdout.isatty(), True
    for text in _text(log.path, lambda: args.follow and folder.info().status == "running"):
        sys.stdout.write(printable(text, keep_lines=True) if safe else text)
        sys.stdout.flush()
        silent = False
    if silent:
        so_far = " so far" if folder.info().status == "running" else ""
        print(f"assay: {quote(args.entry)} printed nothing{_STREAMS.get(stream, '')}{so_far}", file=sys.stderr)
    return 0


def _text(path: Path, still_written: Callable[[], bool]) -> Iterator[str]:
    """What is in the file, then what is added to it for as long as `still_written()`."""
    with open(open_regular(path), "rb") as log:
        while True:
            # Asked before reading: what was written before the end is then surely read.
            more = still_written()
            while block := log.read(65536):
                yield block.decode("utf-8", "replace")
            if not more:
                return
            time.sleep(POLL_S)
