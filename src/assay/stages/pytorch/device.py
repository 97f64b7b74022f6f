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
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.errors import MissingExtra
from assay.names import unknown

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


KNOWN = ("float32", "bfloat16", "float16", "float64")


def dtype_name(written: str) -> str:
    """`torch.bfloat16` or `bfloat16`; checked without importing torch."""
    name = written.removeprefix("torch.")
    if name not in KNOWN:
        raise ValueError(f"dtype: {unknown('number type', name, KNOWN)}")
    return name


def torch_dtype(written: str) -> Any:
    return getattr(library("torch", "llm"), dtype_name(written))


@dataclass(frozen=True)
class Device:
    torch: Any
    """A `torch.device`."""
    note: str = ""
    """Said where it is not the one that was asked for."""

    def synchronise(self) -> None:
        """Until what was queued on it is done: work on a GPU that is only queued would be timed as none."""
        if self.torch.type == "cuda":
            library("torch", "llm").cuda.synchronize(self.torch)
        elif self.torch.type == "mps":
            library("torch", "llm").mps.synchronize()


def choose_device(asked: str | None, of_pipeline: str = "cpu") -> Device:
    """The device a stage names, else the pipeline's. One that torch cannot use is the CPU, with a note: the machine may
    lack it, or this build of torch."""
    torch = library("torch", "llm")
    word = asked or of_pipeline
    try:
        device = torch.device(word)
    except RuntimeError:
        raise ValueError(f"device {word!r} is not known; use cpu, cuda, cuda:N or mps") from None
    if device.type == "cuda" and torch.cuda.is_available():
        # A pipeline that was given one GPU sees only that one, as the first.
        count = torch.cuda.device_count()
        if device.index is None or device.index < count:
            return Device(device)
        if count == 1:
            return Device(torch.device("cuda:0"))
        raise ValueError(f"there is no {word}: this process sees {count} GPUs")
    if device.type == "cpu" or (device.type == "mps" and torch.backends.mps.is_available()):
        return Device(device)
    if device.type == "cuda" and os.environ.get("CUDA_VISIBLE_DEVICES") == "":
        return Device(
            torch.device("cpu"),
            f"asked for {word}, but its process is shown no GPU (`device: cpu` of a pipeline hides them, as an empty "
            "CUDA_VISIBLE_DEVICES does): it ran on the CPU",
        )
    if device.type in ("cuda", "mps"):
        return Device(torch.device("cpu"), f"asked for {word}, which torch cannot use here: it ran on the CPU")
    raise ValueError(f"device {word!r} is not one that stages run on; use cpu, cuda, cuda:N or mps")
