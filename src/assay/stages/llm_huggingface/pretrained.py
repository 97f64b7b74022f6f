from __future__ import annotations

from collections.abc import Callable
from typing import Any

from assay.errors import AssayError, UsageError
from assay.stages.pytorch.hub import cannot_load, is_path, local_path, require_reachable
from assay.stages.pytorch.libraries import library, quiet
from assay.stages.pytorch.tiny_model import TINY, tiny_language_model, tiny_tokenizer


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
