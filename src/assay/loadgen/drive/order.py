from __future__ import annotations

from collections import deque

from assay.loadgen.graph.graph import Graph


def first_reached(graph: Graph) -> dict[int, int]:
    """Rank of each stage: after all that lead to it, a cycle's edges back left out; what is not reached so comes
    last."""
    order: dict[int, int] = {}
    waiting = deque(graph.inputs)
    shape = graph.shape
    pending = {
        node.id: len([source for source in shape.entering(node.id) if source is not None]) for node in graph.nodes
    }
    while waiting:
        stage = waiting.popleft()
        if stage in order:
            continue
        order[stage] = len(order)
        for target in graph.node(stage).outputs:
            pending[target] -= 1
            if pending[target] <= 0:
                waiting.append(target)
    for node in graph.nodes:
        order.setdefault(node.id, len(order))
    return order
