from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Resources:
    """What a stage asks for. What it used is a `Usage`."""

    cpus: float = 1.0
    gpus: float = 0.0
    memory_mb: int | None = None


@dataclass(frozen=True)
class Worker:
    """Where a stage is set up: which replica of how many, and the device it may use."""

    index: int = 0
    count: int = 1
    device: str = "cpu"
    training: bool | None = None
    """Whether the load is training; None leaves it to the data (a batch of a split named train)."""
