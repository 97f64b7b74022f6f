"""CPU of a query through ten stages that do nothing: what generating and recording a load costs."""

from __future__ import annotations

import assay
from assay.loadgen import Graph, LoadGen, SingleStreamLoadScheduler, Stop
from assay.stages.synthetic import NoOp
from bench.nightly.calibrated import Calibrated

DEPTH = 10


def issue(queries: int) -> None:
    chain = Graph.chain([NoOp() for _ in range(DEPTH)])
    result = LoadGen(chain, SingleStreamLoadScheduler(), Stop(max_queries=queries)).run()
    if result.completed != queries or result.dropped_events:
        raise SystemExit(f"{result.completed} of {queries} queries, {result.dropped_events} events dropped")


with assay.benchmark() as b:
    queries = b.param("queries", 50_000)
    issue(100)
    Calibrated(b, "load", b.param("rounds", 5)).measure("cpu_us_per_query", lambda: issue(queries), queries)
