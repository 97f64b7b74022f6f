from __future__ import annotations

from collections.abc import Callable

from assay.sinks.delivery.context import Memory


def once(memory: Memory, key: str, look: Callable[[], str | None], create: Callable[[], str]) -> str:
    """The id of a remote thing that is made exactly once, whenever this process is killed.

    That it is going to be made is on disk before it is, and its id is as soon as the service has answered. Between
    the two the service is asked (`look`) whether it has it already.
    """
    known = memory.get(f"id of {key}")
    if known is not None:
        return str(known)
    begun = memory.get(f"making {key}")
    memory[f"making {key}"] = True
    made = (look() if begun else None) or create()
    memory[f"id of {key}"] = made
    return made
