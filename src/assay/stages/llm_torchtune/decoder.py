from __future__ import annotations

from dataclasses import dataclass, field
from threading import RLock
from typing import Any

from assay.errors import UsageError
from assay.stages.llm_torchtune.torchtune_library import torchtune
from assay.stages.pytorch.device import Device


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
