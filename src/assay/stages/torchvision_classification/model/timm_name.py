from __future__ import annotations

from assay.errors import UsageError
from assay.names import unknown
from assay.stages.pytorch.libraries import library

TIMM = "timm/"
"""What a name begins with where timm is meant."""


def timm_name(written: str, key: str) -> str:
    """The name that timm knows: an architecture, or one with the name of its weights behind a point.

    `key` is where the configuration has it.
    """
    timm = library("timm", "vision")
    name = written.removeprefix(TIMM)
    architecture, _, tag = name.partition(".")
    if not timm.is_model(architecture):
        known = [f"{TIMM}{model}" for model in timm.list_models()]
        raise UsageError(f"{key}: {unknown('model', written, known)}")
    weights = [full.partition(".")[2] for full in timm.list_pretrained(f"{architecture}.*")]
    if tag and tag not in weights:
        raise UsageError(f"{key}: {unknown('weights', tag, weights, of=TIMM + architecture)}")
    return name
