"""Heavy libraries, imported where they are used, without the words they print while they are."""

from __future__ import annotations

import importlib
import importlib.util
import logging
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from assay.errors import MissingExtra

_OPERATORS: list[Any] = []
"""Kept for as long as the process lives: what a Library defined goes when it does."""


def library(name: str, extra: str) -> Any:
    """The module, or one message with the command that installs it."""
    there = sys.modules.get(name)
    if there is not None:
        return there
    define_torchvision_operators()
    try:
        with quiet():
            return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise
        raise MissingExtra(name, extra) from None


def define_torchvision_operators() -> None:
    """Lets torchvision be imported beside a torch that it was not built for, and with it transformers, peft and timm.

    A torchvision built against CUDA cannot load its compiled operators beside a CPU build of torch; its Python code
    then names operators that do not exist, and the import of every library that looks for torchvision fails. Models
    and transforms use none of them. Where the compiled ones load, nothing is done.
    """
    if _OPERATORS or "torchvision" in sys.modules or importlib.util.find_spec("torch") is None:
        return
    found = importlib.util.find_spec("torchvision")
    if found is None or found.origin is None:
        return
    import torch

    for compiled in sorted(Path(found.origin).parent.glob("_C*.so")):
        try:
            torch.ops.load_library(str(compiled))
        except OSError:
            continue
        _OPERATORS.append(compiled)
        return
    operators = torch.library.Library("torchvision", "DEF")
    for name in ("nms", "qnms"):
        operators.define(f"{name}(Tensor boxes, Tensor scores, float iou_threshold) -> Tensor")
    _OPERATORS.append(operators)


@contextmanager
def quiet() -> Iterator[None]:
    """Warnings about accelerators that are not here are of no use to who measures on this machine."""
    os.environ.setdefault("TRANSFORMERS_NO_ADVISORY_WARNINGS", "1")
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)
