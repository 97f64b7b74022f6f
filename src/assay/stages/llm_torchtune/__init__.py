"""Finetuning and generation on torchtune, whose development ended in 2025: on an extra of its own, frozen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.exports import exports

if TYPE_CHECKING:
    from assay.stages.llm_torchtune.data_loader import TorchTuneDataLoader
    from assay.stages.llm_torchtune.finetune import TorchTuneFinetune as Finetune
    from assay.stages.llm_torchtune.inference import TorchTuneInference as Inference

__all__ = ["Finetune", "Inference", "TorchTuneDataLoader"]

__getattr__, __dir__ = exports(
    __name__,
    {
        "Finetune": "finetune:TorchTuneFinetune",
        "Inference": "inference:TorchTuneInference",
        "TorchTuneDataLoader": "data_loader",
    },
)
