from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from assay.errors import UsageError
from assay.stages.pytorch.libraries import library
from assay.stages.pytorch.options import Options

Name = Literal[
    "constant",
    "constant_with_warmup",
    "cosine",
    "cosine_with_min_lr",
    "cosine_with_restarts",
    "inverse_sqrt",
    "linear",
    "polynomial",
]
"""Schedules of transformers that need to know nothing of the training but its length."""
ENDLESS = ("constant", "constant_with_warmup", "inverse_sqrt")
"""Schedules that do not ask how many steps there will be."""


class ScheduleOptions(Options):
    """`lr_scheduler`: how the learning rate goes up and down, by optimiser steps."""

    name: Name = "constant"
    num_warmup_steps: Annotated[int, Field(ge=0)] = 0
    num_training_steps: Annotated[int, Field(ge=1)] | None = None
    """Left out: one pass over the data."""
    scheduler_specific_kwargs: dict[str, Any] = {}

    def build(self, optimizer: Any, steps: int | None) -> Any:
        """`steps`: number of steps in one pass over the data, where that is known."""
        most = self.num_training_steps or steps
        if most is None and self.name not in ENDLESS:
            raise UsageError(
                f"lr_scheduler: {self.name} must know how long the training is: give num_training_steps, or a data "
                "loader with tokenizer_stage_id"
            )
        return library("transformers", "llm").get_scheduler(
            self.name, optimizer, self.num_warmup_steps, most, self.scheduler_specific_kwargs or None
        )
