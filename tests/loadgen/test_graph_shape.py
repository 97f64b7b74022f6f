from __future__ import annotations

import pytest

from assay.errors import ConfigError
from assay.loadgen import Graph, Node
from assay.loadgen.graph_shape import GraphShape, StageShape, reachable
from assay.stages.synthetic import NoOp


def shape(*stages: StageShape, inputs: tuple[int, ...] = (0,), outputs: tuple[int, ...] = ()) -> GraphShape:
    return GraphShape(stages, inputs, outputs)


def found(graph: GraphShape) -> list[tuple[tuple[str | int, ...], str]]:
    return [(problem.path, problem.message) for problem in graph.problems()]


def test_a_chain_has_no_problems() -> None:
    assert found(shape(StageShape(0, "a", (1,)), StageShape(1, "b"), outputs=(1,))) == []


def test_a_duplicate_id_is_named() -> None:
    ((path, message),) = found(shape(StageShape(0, "a"), StageShape(0, "b")))
    assert path == ("stages", 1, "id")
    assert "id 0 is already the id of 'a'" in message


def test_every_edge_to_nowhere_is_named() -> None:
    problems = found(shape(StageShape(0, "a", (1, 7)), StageShape(1, "b"), inputs=(0, 5), outputs=(9,)))
    assert [path for path, _ in problems] == [("inputs", 1), ("outputs", 0), ("stages", 0, "outputs", 1)]


def test_an_unreachable_stage_is_named() -> None:
    ((path, message),) = found(shape(StageShape(0, "a"), StageShape(1, "island")))
    assert path == ("stages", 1)
    assert "cannot be reached" in message


def test_two_inputs_need_a_policy() -> None:
    stages = (StageShape(0, "a", (1, 2)), StageShape(1, "b", (3,)), StageShape(2, "c", (3,)))
    ((path, message),) = found(shape(*stages, StageShape(3, "d")))
    assert path == ("stages", 3)
    assert "join: merge" in message
    assert found(shape(*stages, StageShape(3, "d", join="merge"))) == []


def test_the_load_generator_counts_as_an_input() -> None:
    stages = (StageShape(0, "a", (1,)), StageShape(1, "b"))
    assert [path for path, _ in found(shape(*stages, inputs=(0, 1)))] == [("stages", 1)]


def test_a_cycle_needs_a_bound_and_no_join() -> None:
    loop = (StageShape(0, "a", (1,)), StageShape(1, "b", (0, 2)), StageShape(2, "c"))
    ((path, message),) = found(shape(*loop))
    assert path == ("stages", 0)
    assert "max_visits" in message
    bounded = (StageShape(0, "a", (1,), max_visits=3), *loop[1:])
    assert found(shape(*bounded)) == []


def test_a_stage_in_a_cycle_cannot_merge() -> None:
    stages = (StageShape(0, "a", (1,)), StageShape(1, "b", (1, 2), join="merge", max_visits=2), StageShape(2, "c"))
    assert [path for path, _ in found(shape(*stages))] == [("stages", 1, "join")]


def test_no_entry_is_a_problem() -> None:
    stages = (StageShape(0, "a", (1,), max_visits=2), StageShape(1, "b", (0,)))
    assert [path for path, _ in found(shape(*stages, inputs=()))] == [("inputs",)]


def test_a_stage_with_state_has_one_worker() -> None:
    assert [path for path, _ in found(shape(StageShape(0, "a", stateful=True, workers=2)))] == [
        ("stages", 0, "workers")
    ]


def test_a_deep_chain_is_checked_without_recursion() -> None:
    stages = tuple(StageShape(n, str(n), (n + 1,) if n < 1999 else ()) for n in range(2000))
    assert reachable((0,), GraphShape(stages, (0,), (1999,)).edges) == set(range(2000))


def test_building_a_graph_reports_every_problem() -> None:
    with pytest.raises(ConfigError) as caught:
        Graph.build([Node(0, NoOp(), outputs=(4,)), Node(0, NoOp())])
    assert len(caught.value.problems) == 2


def test_linear_chains_are_recognised() -> None:
    assert [node.id for node in Graph.chain([NoOp(), NoOp()]).linear() or []] == [0, 1]
    split = Graph.build([Node(0, NoOp(), outputs=(1, 2)), Node(1, NoOp()), Node(2, NoOp())])
    assert split.linear() is None
    assert Graph.build([Node(0, NoOp(), place="thread")]).linear() is None


def test_a_stage_that_uses_another_is_set_up_after_it():
    stages = (StageShape(0, "loader", (1,), uses=(1,)), StageShape(1, "model", uses=(2,)), StageShape(2, "tokenizer"))
    assert shape(*stages, inputs=(0, 2)).set_up_order() == [2, 1, 0]


def test_two_stages_that_use_each_other_are_refused():
    stages = (StageShape(0, "a", (1,), uses=(1,)), StageShape(1, "b", uses=(0,)))
    ((path, message),) = found(shape(*stages, outputs=(1,)))
    assert path == ("stages",)
    assert "stage 0 uses a stage that in turn uses it" in message


def test_a_stage_that_uses_one_that_is_not_there_or_apart_is_refused():
    stages = (StageShape(0, "a", (1,), uses=(7,)), StageShape(1, "b", uses=(0,), apart=True))
    (missing, apart) = found(shape(*stages, outputs=(1,)))
    assert missing == (("stages", 0, "config"), "uses unknown stage 7 (known: 0, 1)")
    assert apart[0] == ("stages", 1, "run")
    assert "`run: inline` or `run: thread`" in apart[1]


def test_a_router_that_counts_its_retries_bounds_the_cycle_it_lies_on():
    stages = (StageShape(0, "a", (1,)), StageShape(1, "router", (0, 2), ends_cycles=True), StageShape(2, "end"))
    assert found(shape(*stages, inputs=(0,), outputs=(2,))) == []
