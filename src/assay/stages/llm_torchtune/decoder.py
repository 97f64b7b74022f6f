from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import RLock
from typing import Any

from pydantic import ConfigDict

from assay.errors import DataError, UsageError
from assay.stages.llm_torchtune.checkpoint import CheckpointerOptions, CheckpointFiles, model_config, tiny_checkpoint
from assay.stages.llm_torchtune.torchtune_library import current_path, takes, torchtune
from assay.stages.pytorch.components import ComponentOptions, Options, build_component
from assay.stages.pytorch.device import Device, library, quiet, torch_dtype


@dataclass(frozen=True)
class Decoder:
    """A model of torchtune's in memory, once; several stages may hold the same one."""

    model: Any
    device: Device
    dtype: str
    notes: tuple[str, ...] = ()
    lock: Any = field(default_factory=RLock)
    """Held by the stage that computes with it: its caches and weights change under way."""

    @property
    def vocabulary(self) -> int:
        return int(self.model.tok_embeddings.num_embeddings)

    @property
    def context(self) -> int:
        """Most tokens of a prompt and its answer."""
        return int(self.model.max_seq_len)

    def run_uncached(self, tokens: Any, mask: Any = None, input_pos: Any = None) -> Any:
        """Logits of whole rows. Another stage that holds this model may have given it caches: they are left alone."""
        if not self.model.caches_are_enabled():
            return self.model(tokens, mask=mask, input_pos=input_pos)
        with torchtune("torchtune.modules.common_utils").disable_kv_cache(self.model):
            return self.model(tokens, mask=mask, input_pos=input_pos)

    def set_training(self, training: bool) -> None:
        # Walking through all modules costs time at every call, so only where something changes.
        if self.model.training is not training:
            self.model.train(training)

    def check_tokens(self, tokenizer: Any) -> None:
        """Raises where the tokenizer's special tokens are none of the model's: its first use would fail in the dark."""
        highest = max(getattr(tokenizer, "special_tokens", {}).values(), default=0)
        if highest >= self.vocabulary:
            raise UsageError(
                f"the tokenizer has the token {highest}, the model only {self.vocabulary} of them: they belong to "
                "different models, or tokenizer.special_tokens_path (the model's tokenizer.json) is missing"
            )


_ADAPTERS = {"lora_attn_modules": ["q_proj", "v_proj"], "lora_rank": 8, "lora_alpha": 16}
"""Arguments for a builder that needs them, where the configuration does not say."""


class DecoderOptions(Options):
    """A builder of torchtune's by its dotted path, and the keys that go to it; without one, a Qwen2 whose sizes are
    those of the checkpoint's config.json, or the tiny one."""

    model_config = ConfigDict(extra="allow", frozen=True, protected_namespaces=())

    component: str | None = None

    @property
    def arguments(self) -> dict[str, Any]:
        return dict(self.model_extra or {})


def build_decoder(
    options: DecoderOptions,
    checkpointer: CheckpointerOptions | None,
    device: Device,
    dtype: str,
    seed: int,
    adapters: bool,
) -> Decoder:
    """`adapters`: a builder that is not named is the one with low-rank adapters."""
    torch = library("torch", "llm")
    torchtune()
    checkpoint = checkpointer if options.component or checkpointer else tiny_checkpoint()
    # A model may take minutes to build: what is wrong with its files is said first.
    files = None if checkpoint is None else CheckpointFiles.find(checkpoint)
    wanted = _options_by_name(options) if options.component else _of_sizes(options, checkpoint, adapters)
    default = torch.get_default_dtype()
    # Whoever draws numbers elsewhere in this process draws the same with and without this model.
    with torch.random.fork_rng(devices=[]), quiet():
        torch.manual_seed(seed)
        torch.set_default_dtype(torch_dtype(dtype))
        try:
            with device.torch:
                model = build_component("model", wanted, "torchtune")
        finally:
            torch.set_default_dtype(default)
    notes = (device.note,) if device.note else ()
    if files is None:
        return Decoder(model, device, dtype, (*notes, "without a checkpointer its weights are random numbers"))
    _load(model, files.load())
    return Decoder(model, device, dtype, notes)


def _options_by_name(options: DecoderOptions) -> ComponentOptions:
    path = current_path(options.component or "")
    defaults = {name: value for name, value in _ADAPTERS.items() if takes(path, name, needed=True)}
    return ComponentOptions(component=path, **{**defaults, **options.arguments})


def _of_sizes(options: DecoderOptions, checkpoint: CheckpointerOptions | None, adapters: bool) -> ComponentOptions:
    assert checkpoint is not None
    config = model_config(checkpoint.folder)
    if config.get("model_type") != "qwen2":
        family = config.get("model_type")
        raise UsageError(f"model.component is missing: for a {family!r} model it must be named (torchtune.models.…)")
    path = "torchtune.models.qwen2.lora_qwen2" if adapters else "torchtune.models.qwen2.qwen2"
    return ComponentOptions(
        component=path, **{**(_ADAPTERS if adapters else {}), **_sizes(config), **options.arguments}
    )


def _sizes(config: Mapping[str, Any]) -> dict[str, Any]:
    rope = config.get("rope_parameters") or config
    return {
        "vocab_size": config["vocab_size"],
        "num_layers": config["num_hidden_layers"],
        "num_heads": config["num_attention_heads"],
        "num_kv_heads": config["num_key_value_heads"],
        "embed_dim": config["hidden_size"],
        "intermediate_dim": config["intermediate_size"],
        "max_seq_len": config["max_position_embeddings"],
        "norm_eps": config["rms_norm_eps"],
        "rope_base": rope["rope_theta"],
        "tie_word_embeddings": config["tie_word_embeddings"],
    }


def _load(model: Any, weights: Mapping[str, Any]) -> None:
    """Adapters are new and in no checkpoint; everything else must be."""
    try:
        found = model.load_state_dict(weights, strict=False)
    except RuntimeError as error:
        raise DataError(f"the checkpoint does not fit the model: {' '.join(str(error).split())[:400]}") from None
    lacking = [name for name in found.missing_keys if "lora_" not in name and "magnitude" not in name]
    for names, words in ((lacking, "lacks"), (found.unexpected_keys, "has, beyond the model's,")):
        if names:
            raise DataError(
                f"the checkpoint does not fit the model: it {words} {len(names)} weights, such as {names[0]}"
            )
