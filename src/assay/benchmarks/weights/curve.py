"""The curve: size against the limit and CPU per byte against safetensors, at every setting, over every scenario.

`python -m assay.benchmarks.weights.curve [--scenario S …] [--dtype D …] [--parameters N] [--rounds N] [--json FILE]`.
Every version is committed on the one it was made from and checked out by a repository opened anew; every bit is
compared. The stores take turns, a round goes over all scenarios before the next begins, and the least CPU time of a
step counts: other work on the machine slows memory and processor differently, for seconds to minutes, and rounds in a
row would all meet it. Exit 1 if a floor is missed.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from assay.benchmarks.weight_scenarios.scenario_data import REFERENCE_PARAMETERS, SCENARIOS, scenario_data
from assay.benchmarks.weight_scenarios.version_chain import ChainRun, VersionChain, best_of, run_chain
from assay.benchmarks.weights.compression import add_chain
from assay.benchmarks.weights.results import ResultLine
from assay.benchmarks.weights.stores import FLOOR
from assay.benchmarks.weights.tables import Columns, Table
from assay.weights.entropy_limit import RepositoryLimit
from assay.weights.peers.peer import PEERS

FLOORS: Mapping[str, Mapping[str, float]] = {
    "small": {"of_limit": 98},
    "balanced": {"of_limit": 95, "commit_of_safetensors": 0.06, "checkout_of_safetensors": 0.4},
    "fast": {"of_limit": 80, "commit_of_safetensors": 0.2, "checkout_of_safetensors": 0.5},
}
"""Setting → least values of the compression suite's metrics."""
OTHER = "zipnn-xor"
"""Store that must need more for the versions after the first, where it is installed."""
COLUMNS: Columns = {
    "Scenario": "{scenario}",
    "Dtype": "{dtype}",
    "Setting": "{store}",
    "Ratio": "{compression_ratio:.3f}",
    "Limit": "{limit_ratio:.3f}",
    "Reached": "{of_limit:.1f}%",
    "Commit": "{commit_of_safetensors:.3f}",
    "Checkout": "{checkout_of_safetensors:.3f}",
    "MB/CPU-s": "{commit_speed:.0f} / {checkout_speed:.0f}",
    "Floors": "{floors}",
}


class Course:
    """One scenario in one dtype: the rounds of all stores over it, and what they are judged by."""

    def __init__(self, scenario: str, dtype: str, parameters: int) -> None:
        self._made_from = (scenario, dtype, parameters)
        self._runs: dict[str, list[ChainRun]] = {name: [] for name in (FLOOR, *FLOORS)}
        self._limit: RepositoryLimit | None = None
        self._other: ChainRun | None = None

    def __str__(self) -> str:
        return " ".join(self._made_from[:2])

    def round(self) -> None:
        """Its data are made anew, which takes a second, because those of all scenarios would fill the memory."""
        scenario, dtype, parameters = self._made_from
        chain = VersionChain(scenario_data(scenario, dtype, parameters=parameters))
        for name, done in self._runs.items():
            done.append(_run(name, chain))
        if self._limit is None:
            self._limit = chain.limit
            self._other = _run(OTHER, chain) if PEERS[OTHER].installed else None

    def lines(self) -> Iterator[ResultLine]:
        """A setting each, with the floors that it misses as a label."""
        assert self._limit is not None, "there was no round yet"
        scenario, dtype, _ = self._made_from
        best = {name: best_of(done) for name, done in self._runs.items()}
        for setting in FLOORS:
            line = ResultLine({"scenario": scenario, "dtype": dtype, "store": setting})
            add_chain(line, best[setting], self._runs[setting], self._limit, best[FLOOR])
            floors = "; ".join(self._misses(line, best[setting])) or "ok"
            yield replace(line, labels={**line.labels, "floors": floors})

    def _misses(self, line: ResultLine, run: ChainRun) -> Iterator[str]:
        for what, floor in FLOORS[line.store].items():
            if (found := line.get(what) or 0.0) < floor:
                yield f"{what} {found:.3f} < {floor}"
        if self._other is not None and run.later_bytes >= self._other.later_bytes:
            yield f"larger than {OTHER}"
        if run.wrong:
            yield f"{len(run.wrong)} tensors are not exact"


def _run(store: str, chain: VersionChain) -> ChainRun:
    with TemporaryDirectory() as folder:
        return run_chain(store, chain, Path(folder) / "store")


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m assay.benchmarks.weights.curve")
    parser.add_argument("--scenario", action="append", choices=list(SCENARIOS))
    parser.add_argument("--dtype", action="append", choices=["float32", "bfloat16", "float16"])
    parser.add_argument("--parameters", type=int, default=REFERENCE_PARAMETERS)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args(argv)
    if args.rounds < 1:
        parser.error("--rounds must be at least 1")
    dtypes = args.dtype or ("float32", "bfloat16", "float16")
    courses = [Course(scenario, dtype, args.parameters) for scenario in args.scenario or SCENARIOS for dtype in dtypes]
    # What is loaded by now stays; looking through it again before every step would take longer than most steps.
    gc.freeze()
    for number in range(args.rounds):
        for course in courses:
            print(f"round {number + 1} of {args.rounds}: {course} …", file=sys.stderr, flush=True)
            course.round()
    lines = [line for course in courses for line in course.lines()]
    notes = ("commit and checkout are bytes per CPU-second over those of safetensors' save and load in the same run",)
    print(Table.of("The curve", COLUMNS, lines, notes=notes))
    if args.json:
        found = [{**line.labels, **{what: metric.value for what, metric in line.metrics.items()}} for line in lines]
        args.json.write_text(json.dumps(found, indent=1))
    return 1 if any(line.labels["floors"] != "ok" for line in lines) else 0


if __name__ == "__main__":
    raise SystemExit(main())
