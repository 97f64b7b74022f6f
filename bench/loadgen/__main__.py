"""What measuring costs, and whether schedules are kept: `make bench-loadgen`.

Everything compared is measured in this run, alternating, and reported as a ratio of medians.

    --quick      without the slowdown matrix
    --slowdown   only the slowdown matrix
    --realtime   (root) a real-time class for its pipelines and spinners alike, so that a machine on which other
                 programs run shows what two of them do to each other and not what the others do to both
"""

from __future__ import annotations

import sys
from statistics import median
from time import monotonic_ns, process_time_ns
from typing import Any

import numpy as np
from bench.figures import Figures
from bench.loadgen.spinners import slowdown_figures
from scipy import stats

from assay.loadgen import (
    ConstantLoadScheduler,
    Graph,
    LoadGen,
    LoadResult,
    Node,
    PoissonLoadScheduler,
    SingleStreamLoadScheduler,
    Stop,
)
from assay.loadgen.schedulers.scheduler import draw
from assay.pipeline.stage import Routed, RouterStage
from assay.stages.synthetic import BusyCpu, NoOp, Stall

ROUNDS = 5
CALLS = 200_000


def main() -> int:
    figures = Figures()
    if "--slowdown" in sys.argv:
        slowdown_figures(figures, realtime="--realtime" in sys.argv)
        return figures.finish()
    print("no-op chains, recording on, against a bare loop with a timestamp a stage")
    overhead(figures)
    print("a graph of no-op stages with a fan-out, a merge and a router, recording on, against the same calls bare")
    graph_overhead(figures)
    print("Poisson schedules")
    poisson(figures)
    print("a stage that holds the interpreter, and the sends")
    busy(figures)
    print("a stage that stalls for one second at 200 queries a second")
    stall(figures)
    if "--quick" not in sys.argv:
        print("slowdown of two CPU-bound pipelines, against two bare spinning processes")
        slowdown_figures(figures, realtime="--realtime" in sys.argv)
    return figures.finish()


def bare(depth: int, queries: int) -> float:
    """CPU nanoseconds a query of the least that could be done: call each stage, take the time after each."""
    stages = [NoOp().process for _ in range(depth)]
    clock = monotonic_ns
    begin = process_time_ns()
    for query in range(queries):
        payload: Any = query
        stamps = [clock()]
        for process in stages:
            payload = process(payload)
            stamps.append(clock())
    return (process_time_ns() - begin) / queries


def load(graph: Graph, scheduler: Any, stop: Stop, **more: Any) -> LoadResult:
    return LoadGen(graph, scheduler, stop, **more).run()


def overhead(figures: Figures) -> None:
    for depth in (1, 10, 100):
        queries = CALLS // depth
        ours, theirs = [], []
        for _ in range(ROUNDS):
            theirs.append(bare(depth, queries))
            chain = Graph.chain([NoOp() for _ in range(depth)])
            result = load(chain, SingleStreamLoadScheduler(), Stop(max_queries=queries))
            ours.append(result.cpu_s * 1e9 / queries)
            if result.dropped_events:
                figures.add(f"depth {depth}: events dropped", str(result.dropped_events), "0", False)
        ratio = median(ours) / median(theirs)
        words = (
            f"{ratio:.2f} × ({median(ours) / depth / 1e3:.2f} against {median(theirs) / depth / 1e3:.2f} µs a stage)"
        )
        figures.add(f"CPU of a no-op chain of depth {depth}", words, "at most 8 ×", ratio <= 8)


class Parity(RouterStage[dict[int, int], int]):
    """Merges two branches, and sends what came by its last bit."""

    def process(self, data: dict[int, int]) -> Routed[int]:
        return Routed(data[1], (4 + (data[1] & 1),))


VISITS = 6
"""Stages that a query visits in `forked`: of two behind the router it takes one."""


def forked() -> Graph:
    return Graph.build(
        [
            Node(0, NoOp(), outputs=(1, 2)),
            Node(1, NoOp(), outputs=(3,)),
            Node(2, NoOp(), outputs=(3,)),
            Node(3, Parity(), outputs=(4, 5), join="merge"),
            Node(4, NoOp(), outputs=(6,)),
            Node(5, NoOp(), outputs=(6,)),
            Node(6, NoOp(), join="each"),
        ]
    )


def bare_forked(queries: int) -> float:
    """CPU nanoseconds a query of the same calls, written down as a program, with a timestamp after each."""
    graph = forked()
    start, left, right, choose, even, odd, end = (node.stage.process for node in graph.nodes)
    clock = monotonic_ns
    begin = process_time_ns()
    for query in range(queries):
        stamps = [clock()]
        payload = start(query)
        stamps.append(clock())
        one = left(payload)
        stamps.append(clock())
        other = right(payload)
        stamps.append(clock())
        routed = choose({1: one, 2: other})
        stamps.append(clock())
        payload = (even if routed.to[0] == 4 else odd)(routed.payload)
        stamps.append(clock())
        end(payload)
        stamps.append(clock())
    return (process_time_ns() - begin) / queries


def graph_overhead(figures: Figures) -> None:
    queries = CALLS // 10
    ours, theirs = [], []
    for _ in range(ROUNDS):
        theirs.append(bare_forked(queries))
        result = load(forked(), SingleStreamLoadScheduler(), Stop(max_queries=queries))
        ours.append(result.cpu_s * 1e9 / queries)
        visits = sum(stage.latency.count for stage in result.stages.values())
        if result.dropped_events or visits != VISITS * queries:
            figures.add("graph: stages visited", f"{visits}", f"{VISITS * queries}", False)
    # The least of several: what else the machine did can only add.
    each, bare_each = min(ours) / VISITS / 1e3, min(theirs) / VISITS / 1e3
    words = f"{each:.2f} µs (bare: {bare_each:.2f} µs, {each / bare_each:.2f} ×)"
    figures.add("CPU a stage visited in a graph", words, "at most 3 µs", each <= 3)


def poisson(figures: Figures) -> None:
    for rate in (1000, 5000, 10_000):
        drawn = draw(PoissonLoadScheduler(rate), 42, None, 3 * 10**9)
        fit = stats.kstest(np.diff(drawn, prepend=0) / 1e9, "expon", args=(0, 1 / rate)).pvalue
        figures.add(f"Poisson {rate}/s: Kolmogorov–Smirnov p of the drawn gaps", f"{fit:.3f}", "above 0.01", fit > 0.01)
        over, late, rates = [], [], []
        for _ in range(3):
            result = load(Graph.chain([NoOp()]), PoissonLoadScheduler(rate), Stop(duration=3), seed=42)
            sends = result.measured.rows["start"].max() - result.started_at
            over.append(sends / drawn[-1] - 1)
            late.append(result.lateness["p50"])
            rates.append(result.sent / len(drawn))
        sent_all = min(rates) == 1.0
        figures.add(f"Poisson {rate}/s: share of the schedule sent", f"{min(rates):.4f}", "1", sent_all)
        figures.add(f"Poisson {rate}/s: time over its duration", f"{median(over):.3%}", "0.5%", median(over) <= 0.005)
        figures.add(f"Poisson {rate}/s: lateness p50", f"{median(late) / 1e3:.2f} µs")


def busy(figures: Figures) -> None:
    late = {}
    for sender in ("inline", "process"):
        chain = Graph.chain([BusyCpu(seconds=0.004)])
        result = load(chain, ConstantLoadScheduler(200), Stop(max_queries=400), sender=sender)
        late[sender] = result.lateness
        words = f"p50 {result.lateness['p50'] / 1e3:.1f} µs, p90 {result.lateness['p90'] / 1e3:.1f} µs"
        figures.add(f"4 ms of CPU a query at 200/s, sender {sender}: lateness", words)
    ratio = late["process"]["p90"] / max(late["inline"]["p90"], 1)
    figures.add("  p90, own process against inline", f"{ratio:.3f} ×", "below 1 ×", ratio < 1)


def stall(figures: Figures) -> None:
    chain = Graph.chain([Stall(at=100, seconds=1.0)])
    result = load(chain, ConstantLoadScheduler(200), Stop(max_queries=1000))
    intended, sent = result.latency, result.latency_from_send
    words = f"p90 {intended['p90'] / 1e6:.0f} ms, p99 {intended['p99'] / 1e6:.0f} ms"
    figures.add("latency from the intended time", words, "p99 above 800 ms", intended["p99"] > 0.8e9)
    words = f"p90 {sent['p90'] / 1e6:.3f} ms, p99 {sent['p99'] / 1e6:.3f} ms"
    figures.add("latency from the send time (hides it)", words, "p99 below 400 ms", sent["p99"] < 0.4e9)


if __name__ == "__main__":
    raise SystemExit(main())
