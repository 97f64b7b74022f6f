"""What a stage with several inputs does, in the words of the colocation benchmark whose files Assay reads.

There every edge is a queue, and a class decides which of them is read next.
"""

from __future__ import annotations

from assay.loadgen.graph.shape import Join
from assay.names import unknown

_POLICIES: dict[str, Join | None] = {
    "SingleQueuePolicy": None,
    # Whichever came first is taken next, and the others after it.
    "FirstSubmittedPolicy": "each",
    "MergePolicy": "merge",
}


def join_of(policy: str | None) -> Join | None:
    return None if policy is None else _POLICIES.get(_class_name(policy))


def policy_problem(policy: str, join: Join | None, entries: int) -> str:
    """Why a polling policy cannot be honoured; empty if it can. `entries`: number of inputs of the stage."""
    name = _class_name(policy)
    if name not in _POLICIES:
        return (
            f"{unknown('polling policy', name, _POLICIES)}; Assay has no queues between stages that a class of "
            "one's own could read: use `join: first`, `join: merge` or `join: each`"
        )
    meant = _POLICIES[name]
    if join is not None and join != meant:
        same = f"is `join: {meant}`" if meant else "is for one input"
        return f"{name} {same}, but `join: {join}` is given too: leave one of them out"
    if meant is None and entries > 1:
        return (
            f"{name} is for one input, and this stage has {entries}: use FirstSubmittedPolicy (runs on each) "
            "or MergePolicy (waits for all)"
        )
    return ""


def _class_name(policy: str) -> str:
    return policy.replace(":", ".").rpartition(".")[2]
