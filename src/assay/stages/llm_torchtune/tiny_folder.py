from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from assay.stages.pytorch.tiny_model import write_tiny_model

_KEPT: list[TemporaryDirectory[str]] = []
"""Folders that are deleted when the process ends."""


@cache
def tiny_folder() -> Path:
    """A folder with the tiny model and its tokenizer, as torchtune reads them; made once a process."""
    _KEPT.append(TemporaryDirectory(prefix="assay-tiny-"))
    folder = Path(_KEPT[-1].name)
    write_tiny_model(folder)
    return folder
