from __future__ import annotations

from assay.errors import UsageError
from assay.names import unknown
from assay.stages.pytorch.libraries import library

TIMM = "timm/"
"""What a name begins with where timm is meant."""


def timm_name(written: str) -> str:
    """The name that timm knows: an architecture, or one with the name of its weights behind a point."""
    timm = library("timm", "vision")
    name = written.removeprefix(TIMM)
    architecture, _, tag = name.partition(".")
    if not timm.is_model(architecture):
        raise UsageError(unknown("model", written, [f"{TIMM}{known}" for known in timm.list_models()]))
    weights = [full.partition(".")[2] for full in timm.list_pretrained(f"{architecture}.*")]
    if tag and tag not in weights:
        raise UsageError(unknown("weights", tag, weights, of=f"{TIMM}{architecture}"))
    return name
