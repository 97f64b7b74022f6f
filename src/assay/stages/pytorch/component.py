from __future__ import annotations

from typing import Any

from assay.names import load, quote
from assay.stages.pytorch.libraries import define_torchvision_operators, library


def component(path: str, extra: str) -> Any:
    """What a dotted path of a library's leads to (`torch.optim.AdamW`), or a ValueError that says it leads nowhere."""
    root = path.partition(".")[0]
    if root in ("torch", "torchvision", "torchtune", "transformers", "timm"):
        library(root, extra)
    # What a user's own module imports may look for torchvision too.
    define_torchvision_operators()
    found = load(path)
    if found is None:
        raise ValueError(f"nothing is at {quote(path)}")
    return found
