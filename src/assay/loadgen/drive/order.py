from __future__ import annotations

from collections import deque

from assay.loadgen.graph.graph import Graph


def first_reached(graph: Graph) -> dict[int, int]:
    """Ranks by longest-known path order; stages in a cycle share the order in which they are first reached."""
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
