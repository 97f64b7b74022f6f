"""Options of a load on an endpoint: those of `assay load`, which hands them on, and of load_benchmark.py."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from assay.errors import UsageError

if TYPE_CHECKING:
    from assay.loadgen.serving.load_settings import LoadSettings

KEY_VARIABLE = "OPENAI_API_KEY"


def load_arguments(parser: ArgumentParser) -> None:
    _load(parser)
    _prompts(parser)
    _requests(parser)
    results = parser.add_argument_group("what is made of it")
    results.add_argument(
        "--objective", metavar="METRIC:PERCENTILE=SECONDS", action="append", default=[],
        help="e.g. ttft_s:p99=0.5; several are given by repeating it. Goodput counts what meets all of them",
    )  # fmt: skip
    results.add_argument("--sweep", metavar="RATES", help="one load a rate, e.g. 1,2,4,8 or 1-32 (doubling)")
    results.add_argument(
        "--find-peak", action="store_true", help="the highest rate that meets the objectives; --rate is tried first"
    )
    results.add_argument("--as", dest="as_tool", choices=["vllm", "guidellm", "aiperf"],
                         help="also print the run under the definitions of that tool")  # fmt: skip
    results.add_argument("--rows", choices=["parquet", "csv", "jsonl", "none"],
                         help="format of requests.*, a row a request (default: parquet, or csv)")  # fmt: skip
    results.add_argument("--no-exchanges", action="store_true", help="do not keep the raw answers")
    results.add_argument("--no-ceiling", action="store_true", help="do not measure what the client itself can do here")
    results.add_argument("--label", metavar="TEXT", default="", help="name of this setting in a chart of several")


def _load(parser: ArgumentParser) -> None:
    load = parser.add_argument_group("load")
    load.add_argument("--rate", metavar="R", type=float, help="requests a second (Poisson unless --scheduler says)")
    load.add_argument(
        "--concurrency", metavar="N", type=int, help="requests in flight; with --rate at most so many (default: 1)"
    )
    load.add_argument("--requests", metavar="N", type=int, help="how many (default: 100 or 30 s, what comes first)")
    load.add_argument("--duration", metavar="S", type=float, help="seconds in which requests are sent")
    load.add_argument(
        "--scheduler", metavar="NAME", help="poisson, constant, gamma:cv=3, ramp:start_rate=1,end_rate=9,seconds=60 …"
    )
    load.add_argument(
        "--processes", metavar="N", type=int, default=1, help="client processes that share the load (default: 1)"
    )
    load.add_argument("--seed", metavar="N", type=int, default=0, help="of times and prompts (default: 0)")
    load.add_argument("--warmup", metavar="N", type=int, default=1, help="requests before, not counted (default: 1)")
    load.add_argument("--keep-going", action="store_true", help="do not stop when the server is saturated")
    load.add_argument("--trace-speed", metavar="X", type=float, default=1.0, help="2 replays a trace twice as fast")


def _prompts(parser: ArgumentParser) -> None:
    prompts = parser.add_argument_group("prompts")
    prompts.add_argument("--prompt-tokens", metavar="N", default="128", help="N, 64-256, normal:128,32 or file:PATH")
    prompts.add_argument("--max-tokens", metavar="N", default="128", help="longest answer, in the same forms")
    prompts.add_argument("--prompts", metavar="FILE", type=Path, help="text, JSON lines, ShareGPT or a Mooncake trace")
    prompts.add_argument("--timestamps", choices=["s", "ms"], default="s", help="unit of a trace's timestamps")
    prompts.add_argument("--tokenizer", metavar="FILE", type=Path, help="tokenizer.json; otherwise a word is a token")
    prompts.add_argument("--prefix-tokens", metavar="N", type=int, default=0, help="length of a beginning they share")
    prompts.add_argument("--prefixes", metavar="N", type=int, default=1, help="different beginnings (default: 1)")
    prompts.add_argument("--turns", metavar="N", type=int, default=1, help="turns of each conversation (default: 1)")
    prompts.add_argument("--think-time", metavar="S", type=float, default=0.0, help="seconds between two turns")
    prompts.add_argument("--multi-turn", action="store_true", help="whole conversations of --prompts")
    prompts.add_argument("--history", choices=["server", "recorded"], default="server",
                         help="answers that later turns refer to")  # fmt: skip


def _requests(parser: ArgumentParser) -> None:
    requests = parser.add_argument_group("requests")
    requests.add_argument("--model", metavar="M", help="asked of the server where it has one only")
    requests.add_argument("--endpoint", choices=["chat", "completions", "responses", "embeddings", "http"],
                          default="chat", help="default: chat")  # fmt: skip
    requests.add_argument("--no-stream", action="store_true", help="answers come whole")
    requests.add_argument("--body", metavar="TEXT", help="of http: what is posted, with {prompt}; @FILE for a file")
    requests.add_argument("--method", metavar="NAME", help="of http (default: POST with a body, otherwise GET)")
    requests.add_argument("--extra-body", metavar="JSON", help="merged into each request, e.g. '{\"temperature\": 0}'")
    requests.add_argument(
        "--api-key-env", metavar="NAME", default=KEY_VARIABLE, help=f"variable with the key (default: {KEY_VARIABLE})"
    )
    requests.add_argument("--request-timeout", metavar="S", type=float, default=300.0, help="of one answer")
    requests.add_argument("--idle-timeout", metavar="S", type=float, default=60.0, help="longest silence of an answer")
    requests.add_argument("--connect-timeout", metavar="S", type=float, default=10.0, help="of a connection")
    requests.add_argument("--cancel-after", metavar="S", type=float, help="give each request up after this time")
    requests.add_argument("--cancel-after-tokens", metavar="N", type=int, help="or after so many streamed events")
    requests.add_argument("--insecure", action="store_true", help="do not check the server's certificate")
    requests.add_argument("--ca-file", metavar="FILE", help="certificates to trust, as PEM")


def load_settings(args: Namespace, key: str | None) -> LoadSettings:
    from assay.loadgen.serving.load_settings import LoadSettings
    from assay.loadgen.serving.objectives import ServingObjective

    objectives = tuple(ServingObjective.parse(words) for words in args.objective)
    if args.find_peak and not objectives:
        raise UsageError("--find-peak needs an --objective: without one every rate would do")
    if args.find_peak and args.sweep:
        raise UsageError("give one of --sweep and --find-peak")
    return LoadSettings(
        url=args.url, model=args.model, endpoint=args.endpoint, streamed=not args.no_stream, rate=args.rate,
        concurrency=args.concurrency, requests=args.requests, duration_s=args.duration, scheduler=args.scheduler,
        processes=args.processes, seed=args.seed, prompt_tokens=args.prompt_tokens, max_tokens=args.max_tokens,
        prompts=args.prompts, tokenizer=args.tokenizer, prefix_tokens=args.prefix_tokens, prefixes=args.prefixes,
        turns=args.turns, think_s=args.think_time, multi_turn=args.multi_turn, history=args.history,
        trace_speed=args.trace_speed, timestamp_unit=args.timestamps, body=args.body, method=args.method,
        extra_body=args.extra_body, warmup=args.warmup, connect_s=args.connect_timeout, idle_s=args.idle_timeout,
        total_s=args.request_timeout,
        cancel_after_s=args.cancel_after, cancel_after_tokens=args.cancel_after_tokens, objectives=objectives,
        stop_saturated=not args.keep_going, insecure=args.insecure, ca_file=args.ca_file, label=args.label, key=key,
    )  # fmt: skip


def load_words(args: Namespace) -> list[str]:
    """The options again, as words; what was left at its default is left out."""
    parser = ArgumentParser()
    load_arguments(parser)
    words: list[str] = []
    for name, default in vars(parser.parse_args([])).items():
        value = getattr(args, name)
        option = "--as" if name == "as_tool" else f"--{name.replace('_', '-')}"
        if value == default:
            continue
        if value is True:
            words.append(option)
        elif isinstance(value, list):
            words += [f"{option}={item}" for item in value]
        else:
            words.append(f"{option}={value}")
    return words
