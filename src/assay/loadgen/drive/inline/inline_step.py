from __future__ import annotations

from collections.abc import Callable
from typing import Any

from assay.loadgen.drive.order import first_reached
from assay.loadgen.graph.graph import Graph
from assay.loadgen.graph.node import Node
from assay.pipeline.stage import StreamStage


class InlineStep:
    """A stage of an inline graph with all that is known of its edges before the first query.

    An output is free if a payload that comes to it always runs: nothing bounds its visits, and it waits for no other
    branch.
    """

    __slots__ = (
        "by_word",
        "ends",
        "entering",
        "free",
        "free_by_word",
        "id",
        "join",
        "max_visits",
        "merge",
        "name",
        "only",
        "outputs",
        "place",
        "process",
        "rank",
        "recorded",
        "share",
        "stream",
    )

    def __init__(self, node: Node, graph: Graph, rank: int) -> None:
        self.id = node.id
        self.name = node.shape.name
        self.place = node.id + 1
        self.process: Callable[[Any], Any] = node.stage.process
        self.stream = node.stage if isinstance(node.stage, StreamStage) else None
        self.recorded = node.recorded
        self.share = node.share
        self.ends = node.id in graph.outputs
        self.join = node.join
        self.max_visits = node.max_visits
        self.entering = frozenset(graph.shape.entering(node.id))
        self.rank = rank
        self.outputs: tuple[InlineStep, ...] = ()

    def lead_to(self, outputs: tuple[InlineStep, ...], ids: dict[str, int]) -> None:
        self.outputs = outputs
        self.by_word: dict[int | str, InlineStep] = {step.id: step for step in outputs}
        self.by_word |= {name: self.by_word[id] for name, id in ids.items() if id in self.by_word}
        self.free_by_word = {word: step for word, step in self.by_word.items() if step.is_free}
        self.free = all(step.is_free for step in outputs)
        self.only = outputs[0] if len(outputs) == 1 and self.free else None
        """The step that follows, whatever happens."""
        merges = len(outputs) == 1 and outputs[0].join == "merge" and outputs[0].max_visits is None
        self.merge = outputs[0] if merges else None

    @property
    def is_free(self) -> bool:
        return self.max_visits is None and self.join in (None, "each")


def inline_steps(graph: Graph) -> dict[int, InlineStep]:
    ranks = first_reached(graph)
    steps = {node.id: InlineStep(node, graph, ranks[node.id]) for node in graph.nodes}
    ids = {name: id for id, name in graph.names.items()}
    for node in graph.nodes:
        steps[node.id].lead_to(tuple(steps[target] for target in node.outputs), ids)
    return steps
