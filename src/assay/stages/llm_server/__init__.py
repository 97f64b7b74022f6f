"""Language models behind an OpenAI-compatible server (vLLM, SGLang, Ollama, llama.cpp, transformers serve)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.exports import exports

if TYPE_CHECKING:
    from assay.stages.llm_server.inference import PromptLoader
    from assay.stages.llm_server.inference import ServerInference as Inference

__all__ = ["Inference", "PromptLoader"]

__getattr__, __dir__ = exports(__name__, {"Inference": "inference:ServerInference", "PromptLoader": "inference"})
