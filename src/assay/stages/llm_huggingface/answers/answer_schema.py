"""Answers that follow a JSON schema: at every step only tokens are allowed that can still lead to one.

llguidance walks the schema's grammar beside the model (https://github.com/guidance-ai/llguidance).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ValidationError

from assay.errors import UsageError
from assay.names import load, quote
from assay.stages.llm_huggingface.answers.answer_models import RouterAnswer, Score
from assay.stages.pytorch.libraries import library

_STAND_INS: dict[str, type[BaseModel]] = {
    "utils.schemas.rag.RouterAnswer": RouterAnswer,
    "utils.schemas.rag.Score": Score,
}
"""Stand-ins for models that files name by a module of the colocation benchmark, where that module is not there."""


class AnswerSchema:
    """`data_model`: the dotted path of a pydantic model, or a JSON schema."""

    def __init__(self, given: str | Mapping[str, Any]) -> None:
        self.data_model: type[BaseModel] | None = None
        self.note = ""
        if isinstance(given, Mapping):
            self.schema = dict(given)
            self.name = str(self.schema.get("title", "the schema"))
            return
        found = load(given) or load(f"assay.{given}")
        if found is None and given in _STAND_INS:
            found = _STAND_INS[given]
            self.note = f"{given} is not found here: Assay's own {found.__name__} stood in for it"
        if found is None:
            raise ValueError(f"data_model: nothing is at {quote(given)}; give the path of a pydantic model or a schema")
        if not (isinstance(found, type) and issubclass(found, BaseModel)):
            raise ValueError(f"data_model: {quote(given)} is no pydantic model (it does not inherit from BaseModel)")
        self.data_model = found
        self.name = found.__name__
        self.schema = _close(found.model_json_schema())

    def setup(self, tokenizer: Any, vocabulary: int) -> None:
        """`vocabulary`: the width of the model's last layer, which may be more than the tokenizer has."""
        guidance = library("llguidance", "llm")
        text = tokenizer.backend_tokenizer.to_str()
        self._tokenizer = guidance.LLTokenizer(text, n_vocab=vocabulary, eos_token=tokenizer.eos_token_id)
        # Without this a model may put spaces between two words of the grammar for ever.
        options = {"whitespace_flexible": False}
        self._grammar = guidance.LLMatcher.grammar_from_json_schema(self.schema, overrides=options)
        wrong, why = guidance.LLMatcher.validate_grammar_with_warnings(self._grammar, self._tokenizer)
        if wrong:
            raise UsageError(f"data_model: {self.name} cannot be followed: {'; '.join(why)}")
        self._matcher = guidance.LLMatcher

    def matcher(self) -> Any:
        """Follows one answer: `compute_logit_bias` says which tokens may come, `consume_token` which came."""
        return self._matcher(self._tokenizer, self._grammar)

    def parse(self, text: str, whole: bool) -> Any:
        """An instance of the data model, or the JSON value; None for an answer that does not follow the schema, such
        as one that was cut off (not `whole`)."""
        try:
            if self.data_model is not None:
                return self.data_model.model_validate_json(text)
            return json.loads(text) if whole else None
        except (ValidationError, json.JSONDecodeError):
            return None


def _close(schema: Any) -> Any:
    """The schema with the model's fields and no others, where it says nothing of others."""
    if isinstance(schema, list):
        return [_close(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {key: _close(value) for key, value in schema.items()}
    if "properties" in closed and closed.get("type") == "object":
        closed.setdefault("additionalProperties", False)
    return closed
