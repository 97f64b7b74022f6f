from __future__ import annotations

from abc import ABC
from typing import Any, ClassVar

from assay.errors import UsageError
from assay.stages.llm_huggingface.language_model import LanguageModel


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
