from __future__ import annotations

import logging
import socket
import sys
import traceback
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from assay.cli.arguments import results_dir, results_dir_argument
from assay.errors import AssayError, MissingExtra, UsageError
from assay.history.history import FILE_NAME, History
from assay.record import Record
from assay.sinks.monitoring.prometheus import CONTENT_TYPE, exposition

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response


LOGGERS = ("uvicorn.error", "asyncio")


class OneLine(logging.Formatter):
    """What the dashboard's server says, a line each: of an error its kind and its place instead of a traceback.

    Requests are written by whoever reaches the port, and some of them make the server's own parser raise.
    """

    def format(self, record: logging.LogRecord) -> str:
        said = record.getMessage().partition("\n")[0]
        error = record.exc_info[1] if record.exc_info else None
        if error is None:
            return f"assay: {said}"
        last = traceback.extract_tb(error.__traceback__)[-1:]
        where = "".join(f" ({frame.filename}:{frame.lineno})" for frame in last)
        return f"assay: {said}: {type(error).__name__}: {str(error).partition(chr(10))[0]}{where}"


def log_in_lines() -> None:
    """Logs warnings and worse to standard error, one line each."""
    handler = logging.StreamHandler()
    handler.setFormatter(OneLine())
    for name in LOGGERS:
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(logging.WARNING)


_REPEATS = 100


def scrape(results_dir: Path) -> Callable[[Request], Response]:
    """`/metrics` of `assay serve`: the newest result of every entry, for Prometheus to scrape."""

    def answer(request: Request) -> Response:
        from starlette.responses import PlainTextResponse, Response

        try:
            text = _newest(results_dir)
        except AssayError as error:
            return PlainTextResponse(f"{error}\n", status_code=503)
        headers = {"Content-Type": CONTENT_TYPE, "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store"}
        return Response(text, headers=headers)

    return answer


def _newest(results_dir: Path) -> bytes:
    if not (results_dir / FILE_NAME).is_file():
        return exposition(())
    with History.beside(results_dir, read_only=True) as history:
        records = list(_records(history))
        rows = [history.session(name) for name in {record.session for record in records}]
    return exposition(records, {row.name: row.host or "" for row in rows if row is not None})


def _records(history: History) -> Iterator[Record]:
    """All repeats of every entry, from the session that has run it last."""
    for entry in history.entries():
        runs = history.runs(entry=entry, limit=_REPEATS)
        for run in runs:
            record = history.record(run.run_id) if run.session == runs[0].session else None
            if record is not None:
                yield record


PORT = 8417


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--port", type=int, default=PORT, help=f"0 takes any free one (default: {PORT})")
    parser.add_argument(
        "--host", default="127.0.0.1", metavar="ADDRESS",
        help="where to listen (default: 127.0.0.1, this machine only; anybody who can reach another address can read)",
    )  # fmt: skip
    parser.add_argument(
        "--allow-host",
        action="append",
        default=[],
        metavar="NAME",
        help="a name it may be asked under, besides localhost",
    )
    parser.add_argument(
        "--allow-acknowledge", action="store_true",
        help="with --host: let anybody who can reach it acknowledge failures and regressions (on this machine: always)",
    )  # fmt: skip
    results_dir_argument(parser)


def run(args: Namespace) -> int:
    try:
        import uvicorn
    except ImportError:
        raise MissingExtra("The dashboard (uvicorn)", "serve") from None
    from starlette.routing import Route

    from assay.server.app import LOOPBACK, dashboard

    folder = results_dir(args)
    if not folder.is_dir():
        raise UsageError(f"{folder} is not a folder: run something first, or name another with --results-dir")
    listening = _listen(args.host, args.port)
    port = listening.getsockname()[1]
    local = args.host in LOOPBACK
    app = dashboard(folder, (*LOOPBACK, args.host, *args.allow_host), may_acknowledge=local or args.allow_acknowledge)
    app.router.routes.append(Route("/metrics", scrape(folder)))
    print(f"http://{f'[{args.host}]' if ':' in args.host else args.host}:{port}/", flush=True)
    if not local:
        print("assay: anybody who can reach this address can read all results", file=sys.stderr)
    log_in_lines()
    server = uvicorn.Server(uvicorn.Config(app, log_config=None, access_log=False))
    server.run(sockets=[listening])
    return 0


def _listen(host: str, port: int) -> socket.socket:
    """Opens the socket here, so that a taken port is one message, and what port 0 became is known before it is
    printed."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except (OSError, OverflowError) as error:
        listening.close()
        why = getattr(error, "strerror", None) or error
        raise UsageError(f"cannot listen on {host}:{port}: {why}; choose another with --port") from None
    listening.listen(128)
    return listening
