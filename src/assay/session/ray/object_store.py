from __future__ import annotations

from typing import TYPE_CHECKING

from assay.capture import machine

if TYPE_CHECKING:
    from assay.config.ray_config import RayConfig


def object_store_bytes(ray: RayConfig) -> int | None:
    """None where Ray decides. A fraction is one of the memory that a container leaves to this process."""
    size = ray.object_store_size
    if size is None or isinstance(size, str):
        return None
    return size if isinstance(size, int) else int(size * machine.usable_memory_bytes())
