from __future__ import annotations

from collections.abc import Callable

from assay.sinks.delivery.context import Memory


def once(memory: Memory, key: str, look: Callable[[], str | None], create: Callable[[], str]) -> str:
    """The id of a remote thing that is made exactly once, whenever this process is killed.

    The intention is on disk before the thing is made, and its id as soon as the service has answered. A process that
    finds the intention without an id asks the service (`look`) whether the thing is there already.
    """
    known = memory.get(f"id of {key}")
    if known is not None:
        return str(known)
    begun = memory.get(f"making {key}")
    memory[f"making {key}"] = True
    made = (look() if begun else None) or create()
    memory[f"id of {key}"] = made
    return made
