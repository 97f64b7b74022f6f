from __future__ import annotations

from copy import deepcopy
from typing import Any

UNCHANGING = (int, float, str, bytes, bool, complex, frozenset, type(None))


def branch_payloads(payload: Any, count: int, share: bool) -> list[Any]:
    """One payload a branch. The first keeps the object; a stage that changes what it was given must not change what
    its neighbours were given, so the others get copies, unless sharing was asked for or nothing can change."""
    if share or count <= 1 or isinstance(payload, UNCHANGING):
        return [payload] * count
    return [payload, *(deepcopy(payload) for _ in range(count - 1))]
