from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from assay.stages.pytorch.options import Options
from assay.stages.pytorch.tiny_model import TINY

Temperature = Annotated[float, Field(ge=0)]
Count = Annotated[int, Field(ge=1)]


class ModelOptions(Options):
    name: str = TINY
    """A folder, a name of the hub, or `tiny`."""
    quantize: bool = False

    def require_gpu(self, device: str | None) -> None:
        """Raises where weights of four bits were asked for and nothing here computes with them."""
        if not self.quantize:
            return
        if device is not None and not device.startswith("cuda"):
            raise ValueError(f"model.quantize works on an NVIDIA GPU only, not on device {device!r}: set it to false")
        if not any(Path("/dev").glob("nvidia[0-9]*")):
            raise ValueError("model.quantize needs an NVIDIA GPU, and this machine has none: set it to false")


class FinetuneModelOptions(ModelOptions):
    lora_attn_modules: str | tuple[str, ...] = "all-linear"
    """Names of the modules that get an adapter, or `all-linear`."""
    lora_rank: Annotated[int, Field(ge=0)] = 8
    """0: no adapters, all weights are trained."""
    lora_alpha: float = 16
    lora_dropout: Annotated[float, Field(ge=0, lt=1)] = 0.0


class GenerationOptions(Options):
    """`gen_kwargs`: other places for the same keys, as files have them."""

    max_new_tokens: Count | None = None
    min_new_tokens: Count | None = None
    temperature: Temperature | None = None


class InferenceModelOptions(ModelOptions):
    temperature: Temperature | None = None
    """0 takes the likeliest token; above it, tokens are drawn."""
    gen_kwargs: dict[str, Any] = {}
