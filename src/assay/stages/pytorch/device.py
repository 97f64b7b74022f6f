from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from assay.stages.pytorch.libraries import library


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
