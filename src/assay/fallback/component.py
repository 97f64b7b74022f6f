from __future__ import annotations

from typing import Any


def get_component(path: str) -> Any:
    """What a dotted path leads to, for users' code that asks as the colocation benchmark's does."""
    from assay.names import load, quote

    found = load(path)
    if found is None:
        raise ValueError(f"nothing is at {quote(path)}")
    return found
