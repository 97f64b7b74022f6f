from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from dataclasses import replace
from pathlib import Path

from assay.benchmarks.load_arguments import load_arguments, load_settings, load_words
from assay.cli.arguments import results_dir_argument
from assay.config import DEFAULT_TIMEOUT_S
from assay.errors import UsageError

_EPILOG = """examples:
  assay load http://localhost:8000                          one request after the other
  assay load http://localhost:8000 --rate 5 --duration 60   users who come when they like
  assay load http://localhost:8000 --concurrency 16 --requests 500 --prompt-tokens 512 --max-tokens 128
  assay load http://localhost:8000 --sweep 1-32 --requests 200 --objective ttft_s:p95=0.5
  assay load http://localhost:8000 --find-peak --objective ttft_s:p99=0.5 --objective token_gap_s:p99=0.05
  assay load http://localhost:8000 --prompts mooncake_trace.jsonl --duration 300
  assay load http://localhost:8080/health --endpoint http --rate 100 --duration 10
  assay load --self-test                                    what the client itself can do on this machine

exit codes: 0 measured, and the objectives met where there are any; 1 not; 2 usage
docs/serving.md says how each figure is made."""


def arguments(parser: ArgumentParser) -> None:
    parser.formatter_class = RawDescriptionHelpFormatter
    parser.epilog = _EPILOG
    parser.add_argument("url", nargs="?", metavar="URL", help="of the server, with or without /v1")
    load_arguments(parser)
    parser.add_argument("--self-test", action="store_true", help="load a server that does nothing; no URL")
    session = parser.add_argument_group("session")
    session.add_argument("--runs", metavar="N", type=int, default=1, help="how often (default: 1)")
    session.add_argument(
        "--timeout", metavar="SECONDS", type=float, default=DEFAULT_TIMEOUT_S, help="limit of each run"
    )
    session.add_argument("--session-name", metavar="NAME", help="the time is appended (default: load)")
    session.add_argument("--reason", metavar="TEXT", help="why this is run; kept with the results")
    results_dir_argument(parser, writes=True)


def run(args: Namespace) -> int:
    if args.self_test:
        return _self_test()
    _check(args)
    from assay.api.run import run_new
    from assay.api.run_inputs import RunInputs
    from assay.cli.command_arguments import exit_code

    inputs = RunInputs(
        load=(f"--url={args.url}", *load_words(args)),
        runs=args.runs,
        timeout_s=args.timeout,
        results_dir=str(args.results_dir.absolute()) if args.results_dir else None,
    )
    ran = run_new(inputs, name=args.session_name, reason=args.reason, command=["assay", *sys.argv[1:]])
    for record in ran.records[-1:]:
        _print_said(ran.folder.path / record.name)
    return exit_code(ran)


def _check(args: Namespace) -> None:
    """What can be known to be wrong before a session is made."""
    from assay.loadgen.serving.endpoint import Endpoint

    if args.url is None:
        raise UsageError("which server? Give its URL: assay load http://localhost:8000")
    if args.after:
        raise UsageError("load takes no command after --; `service:` in a session's YAML starts a server")
    if args.runs < 1 or args.timeout <= 0:
        raise UsageError("--runs must be at least 1, --timeout above 0")
    settings = load_settings(args, None)
    Endpoint.of(settings)
    if args.sweep:
        from assay.loadgen.serving.rate_search import parse_rates

        parse_rates(args.sweep)
    if args.scheduler and not args.prompts:
        from assay.loadgen.serving.request_schedule import build_scheduler

        swept = args.sweep or args.find_peak
        build_scheduler(replace(settings, rate=settings.rate or 1.0) if swept else settings)
    for file in (args.prompts, args.tokenizer):
        if file is not None and not file.exists():
            raise UsageError(f"{file}: no such file")
    _ = settings.lengths


def _print_said(folder: Path) -> None:
    """What the last run said: its figures as text."""
    from assay.files.reading import RESULT, Unreadable, read_bytes
    from assay.report.quantity import printable

    logs = sorted(folder.glob("run-*/logs/stdout.log"))[-1:] or [folder / "logs" / "stdout.log"]
    try:
        said = read_bytes(logs[0], RESULT).decode("utf-8", "replace")
    except (Unreadable, FileNotFoundError):
        return
    if said.strip():
        print("\n" + printable(said, keep_lines=True), end="")


def _self_test() -> int:
    from assay.loadgen.http.open_client import measure_ceiling

    print("\n".join(measure_ceiling().lines()))
    return 0
