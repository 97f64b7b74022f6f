"""The walker of inline graphs does what the general one does, on any graph."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from assay.errors import ConfigError
from assay.loadgen import Graph, Node
from assay.loadgen.driver.ending import Flow, StageFailed
from assay.loadgen.driver.graph_walker import Walker
from assay.loadgen.driver.inline_walker import InlineWalker
from assay.loadgen.shared_counters import COMPLETED, CUT, DROPPED, FAILED, HEAD, IGNORED, PIPELINE, TAIL, Board
from assay.loadgen.trace_file import DTYPE
from assay.pipeline.stage import Routed, RouterStage, Stage, StreamStage

QUERIES = 12
COUNTERS = {"completed": COMPLETED, "failed": FAILED, "cut": CUT, "ignored": IGNORED}


class Trail(Stage[Any, Any]):
    """Writes its number into the payload that it was given, so that a payload tells the way it took."""

    def __init__(self, number: int, fails: int) -> None:
        self.number, self.fails = number, fails

    def step(self, data: Any) -> list[Any]:
        trail: list[Any] = [sorted(data.items(), key=str)] if isinstance(data, dict) else data
        trail = [trail] if isinstance(trail, int) else trail
        trail.append(self.number)
        if self.fails and len(str(trail)) % self.fails == 0:
            raise RuntimeError(f"broken at {self.number}")
        return trail

    def process(self, data: Any) -> Any:
        return self.step(data)


class TrailStream(Trail, StreamStage[Any, Any]):
    def process(self, data: Any) -> Iterator[Any]:
        yield from self.step(data)

    def collected(self, items: list[Any]) -> Any:
        return [*items, "streamed"]


class TrailRouter(Trail, RouterStage[Any, Any]):
    """Chooses by what has happened so far: one output, several, or none, by id or name."""

    def __init__(self, number: int, fails: int, outputs: tuple[int, ...], most: int) -> None:
        super().__init__(number, fails)
        self.outputs, self.most = outputs, most

    def process(self, data: Any) -> Any:
        trail = self.step(data)
        random = Random(str(trail))
        chosen = random.sample(self.outputs, random.randint(0 if self.most > 1 else 1, self.most))
        return Routed(trail, tuple(id if random.random() < 0.5 else f"stage {id}" for id in chosen))


def random_graph(seed: int) -> Graph:
    """Edges mostly lead on, some back; routers, merges, first-come joins and bounds on visits wherever they fall."""
    random = Random(seed)
    while True:
        count = random.randint(2, 8)
        nodes = [random_node(random, number, count) for number in range(count)]
        inputs = None if random.random() < 0.7 else sorted(random.sample(range(count), random.randint(1, 2)))
        outputs = None if random.random() < 0.5 else sorted(random.sample(range(count), random.randint(1, 2)))
        try:
            graph = Graph.build(nodes, inputs, outputs)
        except ConfigError:
            continue
        if graph.linear() is None:
            return graph


def random_node(random: Random, number: int, count: int) -> Node:
    on = list(range(number + 1, count))
    outputs = set(random.sample(on, min(len(on), random.choice((1, 1, 2, 3)))))
    if number and random.random() < 0.25:
        outputs.add(random.randrange(number + 1))
    leads = tuple(random.sample(sorted(outputs), len(outputs)))
    fails = random.choice((0, 0, 0, 0, 13))
    stage: Stage[Any, Any] = (TrailStream if random.random() < 0.15 else Trail)(number, fails)
    if leads and random.random() < 0.35:
        stage = TrailRouter(number, fails, leads, random.randint(1, len(leads)))
    return Node(
        number,
        stage,
        f"stage {number}",
        leads,
        join=random.choice(("merge", "first", "each")),  # type: ignore[arg-type]
        max_visits=random.choice((None, None, 1, 2, 3)),
        share=random.random() < 0.3,
        recorded=random.random() < 0.9,
    )


def turns() -> Iterator[tuple[int, int, int]]:
    return ((query, query, query) for query in range(QUERIES))


def walked(graph: Graph, folder: Path, quick: bool, max_failures: int) -> tuple[Any, ...]:
    board = Board(folder / ("quick" if quick else "general"), 1 << 16)
    kept: dict[int, Any] = {}
    failure = ""
    if quick:
        try:
            InlineWalker(graph, board, None, max_failures, kept.__setitem__).run(turns(), queued=True)
        except StageFailed as error:
            failure = str(error)
    else:
        walker = Walker(graph, board, {}, max_failures, kept.__setitem__)
        for query, intended, sent in turns():
            walker.enter(Flow(query, intended, sent), query, worker=0)
            if walker.failure is not None:
                failure = str(walker.failure)
                break
    assert not board.places()
    rows = np.frombuffer(board.rows, DTYPE)[: board.page[HEAD]]
    assert (rows["end"] >= rows["start"]).all()
    times = (rows["start"] > 0) | (rows["stage"] == PIPELINE)
    assert times.all()
    told = [(int(r["query"]), int(r["stage"]), int(r["items"]), bool(r["first"]), int(r["status"])) for r in rows]
    return told, kept, {name: board.page[at] for name, at in COUNTERS.items()}, failure


@pytest.mark.parametrize("block", range(3))
def test_the_same_visits_order_payloads_and_rows_as_the_general_walker(tmp_path: Path, block: int) -> None:
    met: dict[str, int] = dict.fromkeys(COUNTERS, 0)
    for seed in range(block * 40, block * 40 + 40):
        folder = tmp_path / str(seed)
        folder.mkdir()
        most = seed % 3 * QUERIES // 2
        general = walked(random_graph(seed), folder, False, most)
        quick = walked(random_graph(seed), folder, True, most)
        assert quick == general, f"graph {seed}"
        for name, count in general[2].items():
            met[name] += count
    # The graphs are such that the comparison means something.
    assert all(met.values()), met


def test_rows_that_find_the_ring_full_are_counted(tmp_path: Path) -> None:
    graph = Graph.build([Node(0, Trail(0, 0), outputs=(1, 2)), Node(1, Trail(1, 0)), Node(2, Trail(2, 0))])
    board = Board(tmp_path / "board", 16)
    walker = InlineWalker(graph, board, None)
    walker.run(turns(), queued=False)
    assert (board.page[HEAD], board.page[DROPPED], board.page[COMPLETED]) == (16, 4 * QUERIES - 16, QUERIES)
    board.page[TAIL] = 16
    walker.run(turns(), queued=False)
    assert (board.page[HEAD], board.page[COMPLETED]) == (32, 2 * QUERIES)


def test_a_copy_that_is_made_for_a_branch_is_in_no_stages_time(tmp_path: Path) -> None:
    class Slow(list[int]):
        def __deepcopy__(self, memo: Any) -> Slow:
            begin = board.page[HEAD]
            copied.append(begin)
            from time import sleep

            sleep(0.02)
            return Slow(self)

    class Make(Stage[Any, Any]):
        def process(self, data: Any) -> Any:
            return Slow()

    copied: list[int] = []
    nodes = [Node(0, Make(), outputs=(1, 2)), Node(1, Trail(1, 0)), Node(2, Trail(2, 0))]
    board = Board(tmp_path / "board", 16)
    InlineWalker(Graph.build(nodes), board, None).run(iter([(0, 1, 1)]), queued=True)
    rows = np.frombuffer(board.rows, DTYPE)[: board.page[HEAD]]
    stages = rows[rows["stage"] >= 0]
    whole = int(rows["end"][-1] - rows["start"][0])
    assert copied
    assert int((stages["end"] - stages["start"]).sum()) < whole / 2
