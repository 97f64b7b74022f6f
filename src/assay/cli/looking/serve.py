from __future__ import annotations

import socket
import sys
from argparse import ArgumentParser, Namespace

from assay.cli.words.results_dir import results_dir, results_dir_argument
from assay.cli.words.server_log import log_in_lines
from assay.errors import MissingExtra, UsageError

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

    from assay.cli.looking.scrape import scrape
    from assay.report.dashboard.app import LOOPBACK, dashboard

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
