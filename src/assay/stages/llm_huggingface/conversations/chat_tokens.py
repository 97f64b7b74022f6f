from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from assay.stages.llm_huggingface.conversations.chat_row import ChatRow
from assay.stages.llm_huggingface.conversations.token_batch import IGNORED, TokenBatch, mask_of, pad


class ChatTokens:
    """Rows → text by the tokenizer's chat template → tokens."""

    def __init__(self, tokenizer: Any, most: int) -> None:
        self.tokenizer = tokenizer
        self.most = most
        """Tokens of a row at most; of a prompt the end is kept, of a conversation to learn from the beginning."""
        self.cut = 0
        """Rows that were longer."""
        self._template = tokenizer.chat_template is not None
        self._system = self._template and _takes_system(tokenizer)

    def prompt(self, row: ChatRow) -> str:
        return self._apply_template(row.messages, add_generation_prompt=True)

    def prompts(self, rows: Sequence[ChatRow], split: str) -> TokenBatch:
        """Padded on the left, so that every answer begins where its prompt ends."""
        texts = [self.prompt(row) for row in rows]
        ids = [self._count_cut(one)[-self.most :] for one in self._tokens(texts)]
        return self._batch(rows, texts, split, ids, left=True)

    def examples(self, rows: Sequence[ChatRow], split: str) -> TokenBatch:
        """Prompt and answer; only the answer's tokens are labels.

        Both are turned into tokens apart, so that a prompt has the same tokens here as when it is asked.
        """
        texts = [self.prompt(row) for row in rows]
        answers = [self._answer(row, text) for row, text in zip(rows, texts, strict=True)]
        tokens = self._tokens([*texts, *answers])
        ids, labels = [], []
        for asked, answered in zip(tokens[: len(rows)], tokens[len(rows) :], strict=True):
            ids.append(self._count_cut([*asked, *answered])[: self.most])
            labels.append([*([IGNORED] * len(asked)), *answered][: self.most])
        return self._batch(rows, texts, split, ids, left=False, labels=labels)

    def _batch(
        self,
        rows: Sequence[ChatRow],
        texts: Sequence[str],
        split: str,
        ids: list[list[int]],
        left: bool,
        labels: list[list[int]] | None = None,
    ) -> TokenBatch:
        return TokenBatch(
            prompts=tuple(texts),
            split=split,
            references=tuple(row.assistant for row in rows),
            input_ids=pad(ids, self.tokenizer.pad_token_id or 0, left),
            attention_mask=mask_of(ids, left),
            labels=None if labels is None else pad(labels, IGNORED, left),
            tokens=sum(map(len, ids)),
            # The first token of a row follows nothing that could predict it.
            label_tokens=sum(label != IGNORED for row in labels or () for label in row[1:]),
        )

    def _count_cut(self, ids: list[int]) -> list[int]:
        self.cut += len(ids) > self.most
        return ids

    def _tokens(self, texts: Sequence[str]) -> list[list[int]]:
        found: list[list[int]] = self.tokenizer(list(texts), add_special_tokens=not self._template).input_ids
        return found

    def _answer(self, row: ChatRow, prompt: str) -> str:
        whole = self._apply_template([*row.messages, {"role": "assistant", "content": row.assistant}])
        if self._template and whole.startswith(prompt):
            return whole[len(prompt) :]
        return row.assistant + (self.tokenizer.eos_token or "")

    def _apply_template(self, messages: list[dict[str, str]], **options: Any) -> str:
        if not self._template:
            return "\n\n".join(message["content"] for message in messages) + "\n\n"
        if not self._system and messages[0]["role"] == "system":
            joined = "\n\n".join(message["content"] for message in messages[:2])
            messages = [{"role": "user", "content": joined}, *messages[2:]]
        text: str = self.tokenizer.apply_chat_template(messages, tokenize=False, **options)
        return text


def _takes_system(tokenizer: Any) -> bool:
    """Some families' templates refuse a system message."""
    try:
        tokenizer.apply_chat_template(ChatRow("a", "b", "").messages, tokenize=False)
    except Exception:  # noqa: BLE001  (templates raise what they like)
        return False
    return True
