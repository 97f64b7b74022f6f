from __future__ import annotations

from abc import ABC
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from inspect import signature
from pathlib import Path
from threading import RLock
from typing import Annotated, Any, ClassVar

from pydantic import Field

from assay.errors import AssayError, UsageError
from assay.stages.pytorch.components import Options
from assay.stages.pytorch.device import Device, library, quiet
from assay.stages.pytorch.hub import cannot_load, is_path, local_path, require_reachable
from assay.stages.pytorch.tiny_model import TINY, tiny_language_model, tiny_tokenizer

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


def load_tokenizer(name: str) -> Any:
    if name == TINY:
        return tiny_tokenizer()
    tokenizer = _found(name, library("transformers", "llm").AutoTokenizer.from_pretrained)
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    return tokenizer


def load_causal_model(name: str, dtype: Any, device: Any, quantize: bool) -> Any:
    """A model in eval mode, on the device. `quantize`: weights in four bits, by bitsandbytes."""
    if name == TINY and not quantize:
        return tiny_language_model().to(device=device, dtype=dtype)
    transformers = library("transformers", "llm")
    if name == TINY:
        raise UsageError("model: the tiny model is never quantized; leave `quantize` out, or name another model")
    options: dict[str, Any] = {"dtype": dtype}
    if quantize:
        options["quantization_config"] = transformers.BitsAndBytesConfig(
            load_in_4bit=True, bnb_4bit_compute_dtype=dtype, bnb_4bit_use_double_quant=True, bnb_4bit_quant_type="nf4"
        )
        options["device_map"] = {"": device}
    with quiet():
        load = transformers.AutoModelForCausalLM.from_pretrained
    model = _found(name, lambda where, **more: load(where, **options, **more))
    return (model if quantize else model.to(device)).eval()


def _found(name: str, load: Callable[..., Any]) -> Any:
    """What `load` finds in a folder, among what was downloaded before, or on the hub, in this order."""
    where = str(local_path(name, "model")) if is_path(name) else name
    try:
        with quiet():
            if where != name or is_path(name):
                return load(where)
            try:
                return load(where, local_files_only=True)
            except OSError:
                require_reachable(name, "model")
            return load(where)
    except AssayError:
        raise
    except ImportError as error:
        raise UsageError(f"model {name!r}: {error}".strip()) from None
    except Exception as error:  # noqa: BLE001  (a broken folder fails in as many ways as there are formats)
        raise cannot_load(name, "model", error) from None


@dataclass(frozen=True)
class LanguageModel:
    """A model in memory, once, with what is needed to use it; several stages may hold the same one."""

    name: str
    model: Any
    tokenizer: Any
    device: Device
    dtype: str
    lock: Any = field(default_factory=RLock)
    """Held by the stage that computes with it: answers must not be given while weights change."""

    @property
    def context(self) -> int:
        """Most tokens of a prompt and its answer."""
        most = getattr(self.model.config, "max_position_embeddings", None)
        return int(min(most or 1 << 30, self.tokenizer.model_max_length or 1 << 30))

    @cached_property
    def forward_parameters(self) -> frozenset[str]:
        """What the model's forward pass takes; of the model itself, where adapters are around it."""
        base = self.model.get_base_model() if hasattr(self.model, "get_base_model") else self.model
        return frozenset(signature(type(base).forward).parameters)

    def set_training(self, training: bool) -> None:
        # Walking through all modules costs time at every call, so only where something changes.
        if self.model.training is not training:
            self.model.train(training)


class ModelStage(ABC):
    """What other stages take of a stage that has loaded a language model, from its set-up on."""

    learns: ClassVar[bool]
    """True: its batches need labels."""
    _language_model: LanguageModel | None = None

    @property
    def language_model(self) -> LanguageModel:
        if self._language_model is None:
            raise UsageError(f"{type(self).__name__} has not been set up: it has no model yet")
        return self._language_model

    @property
    def model(self) -> Any:
        return self.language_model.model

    @property
    def tokenizer(self) -> Any:
        return self.language_model.tokenizer

    def expect_batches(self, count: int) -> None:
        """Told by the stage that holds the data how many batches one pass over it has."""
