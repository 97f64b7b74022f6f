from __future__ import annotations

from typing import Any

from assay.errors import UsageError
from assay.pipeline.stage import Stage

Messages = list[dict[str, str]]


class Chat:
    """The chat template of a tokenizer. Some templates know no system's part, and some tokenizers have no template."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self.note = ""
        if getattr(tokenizer, "chat_template", None) is None:
            self._arrange = self._plain
            self.note = "the tokenizer has no chat template: prompts are plain text"
            return
        self._arrange = self._two_parts
        try:
            self.prompt("system", "user")
        except Exception:  # noqa: BLE001  (a template may refuse a part with any exception it likes)
            self._arrange = self._one_part

    @classmethod
    def of(cls, stage: Stage[Any, Any]) -> Chat:
        tokenizer = getattr(stage, "tokenizer", None)
        if tokenizer is None:
            raise UsageError(
                f"tokenizer_stage_id: {type(stage).__name__} has no tokenizer; name a stage that loads a language model"
            )
        return cls(tokenizer)

    def prompt(self, system: str, user: str) -> str:
        return self._arrange(system, user)

    def _two_parts(self, system: str, user: str) -> str:
        return self._apply_template([{"role": "system", "content": system}, {"role": "user", "content": user}])

    def _one_part(self, system: str, user: str) -> str:
        return self._apply_template([{"role": "user", "content": f"{system}\n\n{user}"}])

    def _plain(self, system: str, user: str) -> str:
        return f"{system}\n\n{user}\n\nAnswer: "

    def _apply_template(self, messages: Messages) -> str:
        return str(self._tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True))
