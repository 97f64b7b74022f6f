from __future__ import annotations

from dataclasses import fields

from assay.stages.llm_huggingface.conversations.token_batch import TokenBatch, mask_of, pad
from assay.stages.llm_huggingface.language_model import LanguageModel
from assay.stages.pytorch.prompt_batch import PromptBatch


class PromptTokens:
    """Prompts as a model takes them: those that a data loader made are used as they are."""

    def __init__(self, lm: LanguageModel, most: int) -> None:
        self._lm = lm
        self._most = max(most, 1)
        self.cut = 0
        """Prompts of which only the end fitted, beside the answer, into what the model can look back on."""

    def of(self, batch: PromptBatch) -> TokenBatch:
        device = self._lm.device.torch
        if isinstance(batch, TokenBatch) and batch.labels is None and batch.input_ids.shape[1] <= self._most:
            return batch.to(device)
        tokenizer = self._lm.tokenizer
        # A chat template has put them in already.
        special = tokenizer.chat_template is None
        found = tokenizer(list(batch.prompts), add_special_tokens=special).input_ids
        self.cut += sum(len(ids) > self._most for ids in found)
        ids = [each[-self._most :] or [tokenizer.pad_token_id or 0] for each in found]
        same = {field.name: getattr(batch, field.name) for field in fields(PromptBatch)}
        return TokenBatch(
            **same,
            input_ids=pad(ids, tokenizer.pad_token_id or 0, left=True),
            attention_mask=mask_of(ids, left=True),
            tokens=sum(map(len, ids)),
        ).to(device)
