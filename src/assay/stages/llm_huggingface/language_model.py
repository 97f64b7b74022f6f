from __future__ import annotations

from dataclasses import dataclass, field
from threading import RLock
from typing import Any

from assay.stages.pytorch.device import Device


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

    def set_training(self, training: bool) -> None:
        # Walking through all modules costs time at every call, so only where something changes.
        if self.model.training is not training:
            self.model.train(training)
