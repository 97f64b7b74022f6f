from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.stages.llm_torchtune.torchtune_library import torchtune
from assay.stages.pytorch.tiny_rows import tiny_rows


class TinyConversations:
    """The data set that is made here, in the form of torchtune's own: tokens, and labels of the answers alone."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self._rows = tiny_rows()
        self._ignored = torchtune("torchtune.data").CROSS_ENTROPY_IGNORE_IDX

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, at: int) -> Mapping[str, Any]:
        row = self._rows[at]
        message = torchtune("torchtune.data").Message
        asked = "\n".join(part for part in (row.instruction, row.input) if part)
        messages = [
            message(role="user", content=asked, masked=True),
            message(role="assistant", content=row.output, masked=False),
        ]
        tokens, mask = self._tokenizer.tokenize_messages(messages)
        labels = [self._ignored if masked else token for token, masked in zip(tokens, mask, strict=True)]
        return {"tokens": tokens, "mask": mask, "labels": labels}
