from __future__ import annotations

import os
import time
from typing import Any

import numpy as np
import pytest
from load_stages import Add, Append, Count, EvenOdd, Fragile, ListOf, Lost, Remember, Retry, WhichProcess

from assay.loadgen import (
    ConcurrentLoadScheduler,
    ConstantLoadScheduler,
    Graph,
    LoadGen,
    LoadResult,
    Node,
    SingleStreamLoadScheduler,
    Stop,
)
from assay.loadgen.driver.ending import How
from assay.stages.synthetic import Crash, NoOp, Sleep, Stall


def walk(nodes: list[Node], queries: int = 6, **more: Any) -> tuple[LoadResult, dict[int, Any]]:
    kept: dict[int, Any] = {}
    inputs = more.pop("inputs", None)
    scheduler = more.pop("scheduler", SingleStreamLoadScheduler())
    stop = more.pop("stop", Stop(max_queries=queries))
    result = LoadGen(Graph.build(nodes, inputs), scheduler, stop, keep=kept.__setitem__, **more).run()
    return result, kept


def diamond(join: Any, place: Any = "inline") -> list[Node]:
    return [
        Node(0, NoOp(), outputs=(1, 2)),
        Node(1, Add(100), outputs=(3,), place=place),
        Node(2, Add(200), outputs=(3,), place=place),
        Node(3, Remember(), join=join),
    ]


@pytest.mark.parametrize("place", ["inline", "thread"])
def test_merge_pairs_by_query_id(place: Any) -> None:
    scheduler = SingleStreamLoadScheduler() if place == "inline" else ConcurrentLoadScheduler(8)
    result, kept = walk(diamond("merge", place), 200, scheduler=scheduler)
    assert result.completed == 200
    assert kept == {n: {1: n + 100, 2: n + 200} for n in range(200)}
    assert result.stages[3].latency.count == 200


def test_first_come_ignores_the_second_and_each_runs_twice() -> None:
    first, kept = walk(diamond("first"))
    assert kept == {n: n + 100 for n in range(6)}
    assert (first.stages[3].latency.count, first.ignored_branches) == (6, 6)
    each, kept = walk(diamond("each"))
    assert kept == {n: (n + 100, n + 200) for n in range(6)}
    assert each.stages[3].latency.count == 12


def test_branches_do_not_share_what_they_change() -> None:
    def nodes(share: bool) -> list[Node]:
        return [
            Node(0, ListOf(), outputs=(1, 2), share=share),
            Node(1, Append("left")),
            Node(2, Append("right")),
        ]

    _, kept = walk(nodes(share=False), 2)
    assert kept == {0: (["0", "left"], ["0", "right"]), 1: (["1", "left"], ["1", "right"])}
    _, kept = walk(nodes(share=True), 1)
    assert kept[0][0] is kept[0][1]


def test_a_router_takes_one_branch_and_a_merge_behind_it_does_not_wait_for_ever() -> None:
    nodes = [
        Node(0, EvenOdd(), outputs=(1, 2)),
        Node(1, Add(100), name="even", outputs=(3,)),
        Node(2, Add(200), name="odd", outputs=(3,)),
        Node(3, NoOp(), join="merge"),
    ]
    result, kept = walk(nodes)
    assert kept == {0: {1: 100}, 1: {2: 201}, 2: {1: 102}, 3: {2: 203}, 4: {1: 104}, 5: {2: 205}}
    assert (result.stages[1].latency.count, result.stages[2].latency.count) == (3, 3)


def retries(until: int, max_visits: int) -> list[Node]:
    return [
        Node(0, Add(1), name="work", outputs=(1,), max_visits=max_visits),
        Node(1, Retry("work", "done", until), outputs=(0, 2)),
        Node(2, NoOp(), name="done"),
    ]


def test_a_cycle_goes_round_until_the_router_lets_go() -> None:
    result, kept = walk(retries(until=10, max_visits=100), 3, inputs=[0])
    assert kept == dict.fromkeys(range(3), 10)
    assert result.cut_cycles == 0
    assert result.stages[0].latency.count == 10 + 9 + 8


def test_a_cycle_that_reaches_its_bound_goes_on_and_is_counted() -> None:
    result, kept = walk(retries(until=1000, max_visits=3), 4, inputs=[0])
    assert kept == {n: n + 3 for n in range(4)}
    assert result.cut_cycles == 4
    assert any("max_visits" in warning for warning in result.warnings)


def test_a_router_that_names_no_output_fails_the_query() -> None:
    result, _ = walk([Node(0, Lost(), outputs=(1,)), Node(1, NoOp())])
    assert result.ending.how is How.FAILED
    assert "routed to an unknown output 'nowhere' (known: 1)" in result.ending.reason


def test_streams_are_timed_to_the_first_item() -> None:
    result, kept = walk([Node(0, Count(), outputs=(1,)), Node(1, NoOp())], 5)
    assert kept[0] == [0, 1, 2]
    assert result.first_result is not None
    assert result.per_item is not None
    assert 2e6 <= result.first_result["p50"] < result.latency["p50"]
    assert 1e6 <= result.per_item["p50"] < result.latency["p50"]


def most_at_once(result: LoadResult, stage: int) -> int:
    rows = result.measured.rows
    mine = rows[rows["stage"] == stage]
    begun = np.searchsorted(np.sort(mine["start"]), mine["start"], side="right")
    ended = np.searchsorted(np.sort(mine["end"]), mine["start"], side="right")
    return int((begun - ended).max())


def test_threads_overlap_what_waits() -> None:
    nodes = [Node(0, Sleep(0.02), place="thread", workers=8)]
    result, _ = walk(nodes, 64, scheduler=ConcurrentLoadScheduler(8))
    assert result.completed == 64
    assert 2 <= most_at_once(result, 0) <= 8


def test_a_stage_in_a_process_runs_in_another_process() -> None:
    _, kept = walk([Node(0, WhichProcess(), place="process", workers=2)], 10, scheduler=ConcurrentLoadScheduler(2))
    assert os.getpid() not in kept.values()
    assert len(set(kept.values())) == 2


def test_an_open_loop_into_threads_is_paced_by_a_sender_process() -> None:
    nodes = [Node(0, Sleep(0.005), place="thread", workers=4)]
    result, _ = walk(nodes, 50, scheduler=ConstantLoadScheduler(400))
    assert result.completed == 50
    assert 2 <= most_at_once(result, 0) <= 4


def test_a_failing_thread_ends_the_run() -> None:
    nodes = [Node(0, NoOp(), outputs=(1,)), Node(1, Fragile(5), place="thread", workers=2)]
    result, _ = walk(nodes, 500, scheduler=ConcurrentLoadScheduler(2))
    assert result.ending.reason == "query 5, stage 1 (Fragile): RuntimeError: broken"
    assert 5 <= result.completed < 500


def test_a_stage_process_that_is_killed_is_named() -> None:
    nodes = [Node(0, Crash(at=3), place="process")]
    result, _ = walk(nodes, 500)
    assert "query 3, stage 0 (crash)" in result.ending.reason
    assert "killed by SIGKILL" in result.ending.reason
    assert result.completed == 3


@pytest.mark.parametrize("place", ["thread", "process"])
def test_a_hanging_worker_does_not_hold_up_the_end(place: Any) -> None:
    nodes = [Node(0, Stall(at=3, seconds=20), place=place)]
    begin = time.monotonic()
    result, _ = walk(nodes, stop=Stop(max_queries=500, timeout=0.5))
    assert time.monotonic() - begin < 15
    assert result.ending.how is How.TIMED_OUT
    assert (result.ending.query, result.ending.stage) == (3, 0)
    assert result.completed == 3
