from __future__ import annotations

from typing import Any

from assay.errors import UsageError
from assay.stages.llm_torchtune.torchtune_library import current, takes
from assay.stages.pytorch.build_component import build_component
from assay.stages.pytorch.options import ComponentOptions


class RateOptions(ComponentOptions):
    """`lr_scheduler`. Where it takes `num_training_steps` and none are given, it gets the steps of one pass over the
    data."""

    component: str = "torchtune.training.get_cosine_schedule_with_warmup"


def build_rate_schedule(options: RateOptions, optimizer: Any, steps: int | None) -> Any:
    """`steps`: number of steps in one pass over the data, where that is known."""
    wanted = current(options)
    given = wanted.arguments
    if takes(wanted.component, "num_training_steps") and "num_training_steps" not in given:
        if steps is None:
            raise UsageError(
                "lr_scheduler: it must know how long the training is: give num_training_steps, or a data loader with "
                "loss_fn_stage_id"
            )
        wanted = ComponentOptions(component=wanted.component, **{**given, "num_training_steps": steps})
    return build_component("lr_scheduler", wanted, "torchtune", optimizer)
