from __future__ import annotations

import os
import shlex
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from assay.api.run_inputs import RunInputs
from assay.cli.config_arguments import (
    choice_arguments,
    exact_names,
    is_lenient,
    no_sink_argument,
    strictness_arguments,
)
from assay.cli.plan_service import service_lines
from assay.config.entry import Entry
from assay.config.plan import Plan
from assay.errors import UsageError
from assay.record.secrets import Masker
from assay.session.masking import session_masker
from assay.session.neighbours import Neighbours
from assay.session.preflight import missing_datasets, missing_interpreter, preflight
from assay.session.run import ordered_runs


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
    return _shown(plan)


def _shown(plan: Plan) -> int:
    masker = session_masker(plan, os.environ, sys.argv[1:])
    problems = 0
    print(f"results in {plan.results_dir}, what is large in {plan.artifacts_dir}")
    print(f"{len(plan.entries)} entries, {len(ordered_runs(plan))} runs")
    for entry in plan.entries:
        wrong = [*([entry.problem] if entry.problem else []), *missing_interpreter(entry), *missing_datasets(entry)]
        problems += bool(wrong)
        print(
            "\n".join([f"\n{entry.name}  ({entry.where})", *_lines(entry, masker), *(f"  ✗ {line}" for line in wrong)])
        )
    sinks = ", ".join(str(sink.get("name") or sink.get("class")) for sink in plan.sinks)
    print("\n".join([f"\nsinks: {sinks or 'none'}", *(f"  {note}" for note in plan.notes)]))
    for warning in preflight(plan, Neighbours(), session=""):
        print(f"warning: {warning}")
    return 1 if problems else 0


def _lines(entry: Entry, masker: Masker) -> list[str]:
    lines = [f"  {shlex.join(masker.words([*entry.program, *entry.args]))}", f"  at most {entry.timeout_s:g} s"]
    if entry.repeat > 1 or entry.warmup or entry.retries:
        lines.append(f"  {entry.warmup} warm-up, {entry.repeat} measured, up to {entry.retries} retries")
    if entry.needs:
        lines.append(f"  after {', '.join(entry.needs)}")
    if entry.ray is not None:
        given = ", ".join(f"{name}={value}" for name, value in entry.ray.model_dump(exclude_unset=True).items())
        lines.append(f"  with a Ray cluster: {given or 'Ray’s own defaults'}")
    if entry.service is not None:
        lines += service_lines(entry.service, masker)
    lines += [f"  requires {_requirement(item.model_dump(exclude_unset=True))}" for item in entry.requirements]
    return lines


def _requirement(given: dict[str, object]) -> str:
    metric = given.pop("metric")
    return f"{metric}: {', '.join(f'{name} {value}' for name, value in given.items())}"
