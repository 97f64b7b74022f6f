from __future__ import annotations

import os
import shlex
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from assay.api.run_inputs import RunInputs
from assay.cli import plan_sentences as said
from assay.cli.arguments import choice_arguments, exact_names, is_lenient, no_sink_argument, strictness_arguments
from assay.config.entry import Entry
from assay.config.plan import Plan
from assay.config.service import Service
from assay.errors import UsageError
from assay.record.secrets import Masker
from assay.session.machine_watch import Neighbours
from assay.session.preflight import missing_datasets, missing_interpreter, preflight
from assay.session.results.masked_records import session_masker
from assay.session.results.requirements import bounds_in_words
from assay.session.runs import order_runs


def service_lines(service: Service, masker: Masker) -> list[str]:
    """What `assay plan` says of an entry's service."""
    kept = "kept for all its runs" if service.restart == "never" else "started for each run"
    command = shlex.join(word.replace("{port}", "PORT") for word in masker.words(list(service.command)))
    lines = [f"  with a service, {kept}: {command}"]
    lines.append(
        f"    at {masker.text(service.url)}, ready when {_ready(service)}, within {service.ready_timeout_s:g} s"
    )
    if service.metrics is not None:
        lines.append(f"    {masker.text(service.metrics.path)} read every {service.metrics.interval_s:g} s")
    return [line.replace("{port}", "PORT") for line in lines]


def _ready(service: Service) -> str:
    ready = service.ready
    if ready is None:
        return "its port takes connections"
    if ready.http is not None:
        return f"{ready.http} answers"
    if ready.tcp is not None:
        return f"port {ready.tcp} takes connections"
    if ready.log is not None:
        return f"its output matches {ready.log}"
    return f"`{shlex.join(service.ready_command)}` succeeds"


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--config", metavar="FILE", action="append", default=[], help="session YAML; several are merged"
    )
    parser.add_argument("--matrix", metavar="FILE", help="older form: matrix YAML")
    parser.add_argument("--datasets", metavar="FILE", help="older form: JSON with the data sets' paths")
    parser.add_argument("--sink", metavar="NAME", default="none", help="older form: the sink to use")
    choice_arguments(parser)
    strictness_arguments(parser)
    no_sink_argument(parser)
    parser.add_argument("--set", metavar="KEY=VALUE", action="append", default=[], help="override a value")
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument(
        "--volumes",
        action="store_true",
        help="print only what a container must be given: a line `host<TAB>container<TAB>ro|rw` each",
    )
    instead.add_argument(
        "--jobs",
        action="store_true",
        help="print only the entries' limits as jobs of their own: a line `name<TAB>seconds` each",
    )


def run(args: Namespace) -> int:
    """What would run, resolved; data sets and interpreters are looked for, nothing is run. 1 if an entry would fail."""
    if bool(args.config) == bool(args.matrix):
        raise UsageError("give --config FILE or --matrix FILE")
    inputs = RunInputs(
        config=tuple(str(Path(file).absolute()) for file in args.config),
        matrix=args.matrix,
        datasets=args.datasets,
        sink=args.sink,
        set=tuple(args.set),
        entries=args.entries,
        entries_exact=exact_names(args),
        lenient_config=is_lenient(args),
        no_sink=tuple(args.no_sink),
    )
    if args.volumes:
        print("".join(f"{volume}\n" for volume in inputs.volumes()), end="")
        return 0
    plan = inputs.plan()
    if args.jobs:
        print("\n".join(f"{entry.name}\t{entry.job_timeout_s:g}" for entry in plan.entries if not entry.is_setup))
        return 0
    return _show(plan)


def _show(plan: Plan) -> int:
    masker = session_masker(plan, os.environ, sys.argv[1:])
    problems = 0

    def show(text: str) -> None:
        print(masker.text(text))

    show(said.places(plan.results_dir, plan.artifacts_dir))
    show(said.entries_and_runs(len(plan.entries), len(order_runs(plan))))
    for entry in plan.entries:
        wrong = [*([entry.problem] if entry.problem else []), *missing_interpreter(entry), *missing_datasets(entry)]
        problems += bool(wrong)
        lines = [*_lines(entry, masker), *map(said.problem, wrong)]
        show("\n".join([f"\n{entry.name}  ({entry.where})", *(f"  {line}" for line in lines)]))
    sinks = [str(sink.get("name") or sink.get("class")) for sink in plan.sinks]
    show("\n".join([f"\n{said.sinks(sinks)}", *(f"  {note}" for note in plan.notes)]))
    for warning in preflight(plan, Neighbours(), session=""):
        show(said.warning(warning))
    return 1 if problems else 0


def _lines(entry: Entry, masker: Masker) -> list[str]:
    lines = [
        shlex.join(masker.words([*entry.program, *entry.args])),
        said.runs(entry.repeat, entry.warmup, entry.retries, entry.timeout_s),
    ]
    if entry.needs:
        lines.append(said.after(entry.needs))
    if entry.ray is not None:
        lines.append(said.cluster(entry.ray.model_dump(exclude_unset=True)))
    if entry.service is not None:
        lines += [line.removeprefix("  ") for line in service_lines(entry.service, masker)]
    return [*lines, *(said.requires(item.metric, bounds_in_words(item)) for item in entry.requirements)]
