"""Language models of transformers: data, fine-tuning with LoRA, and generation token by token."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.exports import exports

if TYPE_CHECKING:
    from assay.stages.llm_huggingface.finetune import HuggingFaceFinetune as Finetune
    from assay.stages.llm_huggingface.huggingface_data_loader import HuggingFaceDataLoader, MockDataLoader
    from assay.stages.llm_huggingface.inference import HuggingFaceInference as Inference

__all__ = ["Finetune", "HuggingFaceDataLoader", "Inference", "MockDataLoader"]

__getattr__, __dir__ = exports(
    __name__,
    {
        "Finetune": "finetune:HuggingFaceFinetune",
        "HuggingFaceDataLoader": "huggingface_data_loader",
        "Inference": "inference:HuggingFaceInference",
        "MockDataLoader": "huggingface_data_loader",
    },
)
