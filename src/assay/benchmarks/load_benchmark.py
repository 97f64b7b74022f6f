"""Load on an OpenAI-compatible server, or on any HTTP service, as an entry of a session.

    script: load_benchmark.py
    args: --url http://localhost:8000 --rate 10 --duration 60 --prompt-tokens 512 --max-tokens 128
    args: --url http://localhost:8000 --sweep 1,2,4,8 --requests 200 --objective ttft_s:p99=0.5

`assay load URL` runs it from the command line. Its metrics are explained in docs/serving.md. Beside them lie
`serving.json` (histograms, the course of the load, the curve), `requests.*` (a row a request) and `exchanges/` (all
that came back, byte by byte). The API key comes from the environment and reaches none of them.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from pathlib import Path

from assay.benchmarks.benchmark_program import exit_code
from assay.benchmarks.load_arguments import load_arguments, load_settings
from assay.loadgen.http.exchanges import save
from assay.loadgen.serving.load_point import LoadPoint, point_metrics
from assay.loadgen.serving.load_settings import LoadSettings
from assay.loadgen.serving.load_text import curve_text, point_text
from assay.loadgen.serving.metrics_of_other_tools import tool_text
from assay.loadgen.serving.rate_search import RatesMeasured, parse_rates, search_peak, sweep_rates
from assay.loadgen.serving.result_files import RateCurve, write_request_rows, write_serving
from assay.loadgen.serving.run_load import LoadRunner, stopping_on_signal
from assay.record.benchmark import Benchmark, benchmark
from assay.record.secrets import Masker

_FIRST_RATE = 1.0
"""Where the search for a peak begins if no rate is given."""


def main(argv: Sequence[str] | None = None) -> int:
    args = _parser().parse_args(argv)
    key = os.environ.get(args.api_key_env) or None
    masker = Masker({}, [(args.api_key_env, key or "")])

    def measure() -> int:
        settings = load_settings(args, key)
        with benchmark(["--benchmark-results-path", str(args.benchmark_results_path)]) as b:
            b.params(**settings.to_json())
            return _measure(b, args, settings)

    return exit_code("load", measure, masker.text)


def _parser() -> ArgumentParser:
    parser = ArgumentParser(prog="load_benchmark.py", description="load on an HTTP endpoint", allow_abbrev=False)
    parser.add_argument("--url", required=True, help="of the server, with or without /v1")
    parser.add_argument("--benchmark-results-path", type=Path, required=True, metavar="DIR")
    load_arguments(parser)
    return parser


def _measure(b: Benchmark, args: Namespace, settings: LoadSettings) -> int:
    with LoadRunner(settings, None if args.no_ceiling else _ceiling()) as runner:
        b.params(model=runner.endpoint.model, url=runner.endpoint.url)
        with stopping_on_signal(runner.stop):
            measured = _run(args, runner)
        if not measured.curve.valid:
            print(f"{runner.endpoint.url}  {runner.endpoint.model or ''}".rstrip())
            print(point_text(measured.points[0]), flush=True)
    b.params(client=measured.points[0].exchanges.client)
    swept = bool(measured.curve.valid)
    _keep(args, runner, measured.points, measured.curve if swept else None)
    shown = _choose_point(measured)
    for metric in point_metrics(shown):
        b.add_metric(metric)
    if swept:
        _curve_metrics(b, measured)
        print(curve_text(measured.points, measured.curve))
    if args.as_tool:
        print(tool_text(args.as_tool, shown))
    problem = shown.failed or _problem(args, runner, measured)
    success = not problem
    b.metric("is_success", success)
    if not success:
        print(f"load: {problem}", file=sys.stderr)
    return 0 if success else 1


def _ceiling() -> Callable[[LoadPoint], float | None]:
    from assay.loadgen.serving.clients import ClientCeiling

    return ClientCeiling()


def _run(args: Namespace, runner: LoadRunner) -> RatesMeasured:
    if args.sweep:
        return sweep_rates(runner, parse_rates(args.sweep), _tell)
    if args.find_peak:
        return search_peak(runner, runner.settings.rate or _FIRST_RATE, _tell)
    return RatesMeasured((runner.run(),), RateCurve([]))


def _problem(args: Namespace, runner: LoadRunner, measured: RatesMeasured) -> str:
    """Why the run did not do what it was asked for, though something was measured; empty where it did."""
    if runner.stopped:
        return "ended before its time; what was measured by then is kept"
    if args.find_peak and measured.curve.peak_rate is None:
        return "no rate that was tried meets the objectives twice"
    return ""


def _tell(point: LoadPoint, valid: bool) -> None:
    print(f"rate {point.asked.rate:g}/s: {'kept' if valid else 'not kept'}", flush=True)
    for reason in [*point.verdict.reasons, *(result.reason for result in point.objectives if result.reason)]:
        print(f"  {reason}", flush=True)


def _choose_point(measured: RatesMeasured) -> LoadPoint:
    """The one whose figures are the run's: of several rates the highest that was kept, without one the lowest."""
    kept = [point for point, valid in zip(measured.points, measured.curve.valid, strict=False) if valid]
    return kept[-1] if kept else measured.points[0]


def _curve_metrics(b: Benchmark, measured: RatesMeasured) -> None:
    curve = measured.curve
    b.metric("rates_tried", len(measured.points))
    b.metric("rates_kept", sum(curve.valid), better="higher")
    if curve.peak_rate is not None:
        b.metric("peak_rate", curve.peak_rate, unit="1/s", better="higher")
        b.metric("peak_bounded", curve.peak_bounded)


def _keep(args: Namespace, runner: LoadRunner, points: Sequence[LoadPoint], curve: RateCurve | None) -> None:
    folder: Path = args.benchmark_results_path
    endpoint, settings = runner.endpoint, runner.settings
    about = {
        "url": endpoint.url,
        "endpoint": endpoint.kind,
        "model": endpoint.model,
        "streamed": endpoint.streamed,
        "setting": settings.label,
        "prompts": {
            "source": "synthetic" if settings.prompts is None else settings.prompts.name,
            "different": len(runner.prompts.conversations),
            "tokens_by": runner.prompts.text.name,
            "prompt_tokens": settings.prompt_tokens if settings.prompts is None else None,
            "max_tokens": settings.max_tokens,
            "turns": settings.turns,
        },
    }
    write_serving(folder, about, points, curve)
    write_request_rows(folder, points, args.rows)
    if not args.no_exchanges:
        for number, point in enumerate(points):
            save(point.exchanges, folder / "exchanges" / f"point-{number:02}")


if __name__ == "__main__":
    raise SystemExit(main())
