from __future__ import annotations

from typing import Any

from assay.errors import UsageError
from assay.stages.llm_huggingface.model_options import FinetuneModelOptions
from assay.stages.pytorch.libraries import library, quiet


def with_adapters(model: Any, options: FinetuneModelOptions) -> Any:
    """The model with low-rank adapters (LoRA; Hu et al., 2021), which alone are trained; itself where the rank is 0."""
    if options.lora_rank == 0:
        return model.requires_grad_(True)
    modules = options.lora_attn_modules
    with quiet():
        peft = library("peft", "llm")
        if options.quantize:
            model = peft.prepare_model_for_kbit_training(model)
        config = peft.LoraConfig(
            r=options.lora_rank,
            lora_alpha=options.lora_alpha,
            lora_dropout=options.lora_dropout,
            target_modules=modules if isinstance(modules, str) else list(modules),
            task_type="CAUSAL_LM",
        )
        try:
            return peft.get_peft_model(model, config)
        except ValueError as error:
            raise UsageError(f"model.lora_attn_modules: {error}") from None
