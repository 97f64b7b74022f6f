from __future__ import annotations

from typing import Any

from assay.config.entries.entry_config import EntryConfig
from assay.config.ray_config import RayConfig
from assay.config.session_config import SessionConfig

_SPILLING = {"object_spilling", "enable_object_spilling"}


def ray_of(entry: EntryConfig, session: SessionConfig) -> RayConfig | None:
    """The entry's own keys over the session's `ray:`; `ray: null` in an entry takes no cluster."""
    if "ray" in entry.model_fields_set and entry.ray is None:
        return None
    if entry.ray is None and session.ray is None:
        return None
    written = [_size(session.object_store_size), _keys(session.ray), _size(entry.object_store_size), _keys(entry.ray)]
    merged: dict[str, Any] = {}
    for keys in written:
        if _SPILLING & keys.keys():
            merged = {name: value for name, value in merged.items() if name not in _SPILLING}
        merged |= keys
    return RayConfig(**merged)


def _keys(ray: RayConfig | None) -> dict[str, Any]:
    return ray.model_dump(exclude_unset=True) if ray is not None else {}


def _size(size: int | float | str | None) -> dict[str, Any]:
    return {} if size is None else {"object_store_size": size}
