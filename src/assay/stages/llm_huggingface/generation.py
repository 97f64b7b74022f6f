"""The answers to one batch of prompts, a token of each at a time, with the keys and values of earlier tokens kept."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log, sqrt
from typing import Annotated, Any, Literal
from zlib import crc32

import numpy as np
from pydantic import BaseModel, Field, ValidationError

from assay.errors import UsageError
from assay.names import load, quote
from assay.stages.llm_huggingface.answers.answer_models import RouterAnswer, Score
from assay.stages.llm_huggingface.chat import TokenBatch
from assay.stages.llm_huggingface.models import LanguageModel
from assay.stages.pytorch.components import Options
from assay.stages.pytorch.device import library

Count = Annotated[int, Field(ge=1)]


class LengthOptions(Options):
    """`lengths`: how many tokens answers have, drawn for each prompt."""

    distribution: Literal["uniform", "normal", "lognormal"] = "lognormal"
    mean: Annotated[float, Field(gt=0)] | None = None
    std: Annotated[float, Field(ge=0)] | None = None
    min: Count = 1
    max: Count

    def check(self) -> None:
        if self.min > self.max:
            raise ValueError(f"lengths: min {self.min} is more than max {self.max}")
        needed = self.distribution != "uniform"
        for key in ("mean", "std"):
            if needed is (getattr(self, key) is None):
                raise ValueError(f"lengths: {self.distribution} {'needs' if needed else 'has no'} {key}")

    def draw(self, rng: np.random.Generator) -> int:
        if self.distribution == "uniform":
            return int(rng.integers(self.min, self.max, endpoint=True))
        assert self.mean is not None
        assert self.std is not None
        if self.distribution == "normal":
            value = rng.normal(self.mean, self.std)
        else:
            spread = log(1 + (self.std / self.mean) ** 2)
            value = rng.lognormal(log(self.mean) - spread / 2, sqrt(spread))
        return int(min(max(round(value), self.min), self.max))


@dataclass(frozen=True)
class AnswerLengths:
    """The fewest and the most tokens of an answer.

    A drawn length depends on its prompt and the seed alone: whatever the order of queries, and however many came
    before, the same prompt has an answer of the same length, so that runs can be compared.
    """

    least: int
    most: int
    drawn: LengthOptions | None = None
    seed: int = 0

    @classmethod
    def read(
        cls, max_new_tokens: int | None, min_new_tokens: int | None, lengths: Mapping[str, Any] | None, seed: int
    ) -> AnswerLengths:
        """Reads the keys of a stage. With `min_new_tokens` alone, answers have exactly that many tokens."""
        for key, value in (("max_new_tokens", max_new_tokens), ("min_new_tokens", min_new_tokens)):
            if value is not None and value < 1:
                raise ValueError(f"{key} must be at least 1, not {value}")
        if lengths is not None:
            if max_new_tokens is not None or min_new_tokens is not None:
                raise ValueError("lengths: leave max_new_tokens and min_new_tokens out; lengths has min and max")
            drawn = LengthOptions.read("lengths", lengths)
            drawn.check()
            return cls(drawn.min, drawn.max, drawn, seed)
        most = max_new_tokens or min_new_tokens or MOST
        if min_new_tokens is not None and min_new_tokens > most:
            raise ValueError(f"min_new_tokens {min_new_tokens} is more than max_new_tokens {most}")
        return cls(min_new_tokens or 1, most, None, seed)

    def of(self, prompt: str) -> tuple[int, int]:
        if self.drawn is None:
            return self.least, self.most
        length = self.drawn.draw(np.random.default_rng([abs(self.seed), crc32(prompt.encode())]))
        return length, length


MOST = 32
"""Tokens of an answer at most, where nothing is said."""

# Answers that follow a JSON schema: at every step only tokens are allowed that can still lead to one.
#
# llguidance walks the schema's grammar beside the model (https://github.com/guidance-ai/llguidance).

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


@dataclass(frozen=True)
class Sampling:
    temperature: float = 0.0
    """0 takes the likeliest token."""
    seed: int = 0


class Generation:
    def __init__(
        self,
        lm: LanguageModel,
        batch: TokenBatch,
        lengths: Sequence[tuple[int, int]],
        sampling: Sampling,
        schema: AnswerSchema | None = None,
    ) -> None:
        torch = self._torch = library("torch", "llm")
        self.batch = batch
        self._lm = lm
        self._device = lm.device.torch
        self._lengths = lengths
        self._temperature = sampling.temperature
        self.answers: list[list[int]] = [[] for _ in lengths]
        self._going = [True] * len(lengths)
        self.matchers = None if schema is None else [schema.matcher() for _ in lengths]
        self._ends = end_tokens(lm)
        self._takes = lm.forward_parameters
        self._cache: Any = None
        self._input = batch.input_ids
        most = max(most for _, most in lengths)
        self._width = batch.input_ids.shape[1]
        tail = torch.ones((len(lengths), most), dtype=batch.attention_mask.dtype, device=self._device)
        self._mask = torch.cat([batch.attention_mask, tail], dim=1)
        self._positions = (self._mask.cumsum(1) - 1).clamp_(min=0)
        self._random = None
        if self._temperature:
            # Drawn from the prompts and the seed, so that neither order nor number of earlier queries changes an
            # answer.
            self._random = torch.Generator(device=self._device)
            self._random.manual_seed(crc32("\0".join((str(sampling.seed), *batch.prompts)).encode()))

    @property
    def over(self) -> bool:
        return not any(self._going)

    def step(self) -> tuple[int | None, ...]:
        torch = self._torch
        # Not around the caller's loop: between two tokens the thread is the caller's.
        with torch.inference_mode():
            logits = self._forward()
            self._restrict(logits)
            chosen = self._choose(logits)
            words = chosen.tolist()
            self._input = chosen.unsqueeze(1)
        return tuple(self._take(row, token) for row, token in enumerate(words))

    def _forward(self) -> Any:
        done = self._width
        first = done - self._input.shape[1]
        arguments: dict[str, Any] = {
            "input_ids": self._input,
            "attention_mask": self._mask[:, :done],
            "past_key_values": self._cache,
            "use_cache": True,
        }
        if "position_ids" in self._takes:
            arguments["position_ids"] = self._positions[:, first:done]
        if "logits_to_keep" in self._takes:
            arguments["logits_to_keep"] = 1
        output = self._lm.model(**arguments)
        self._cache = output.past_key_values
        self._width += 1
        return output.logits[:, -1].float()

    def _restrict(self, logits: Any) -> None:
        torch = self._torch
        if self.matchers is not None:
            for row, matcher in enumerate(self.matchers):
                if self._going[row]:
                    allowed = torch.frombuffer(bytearray(matcher.compute_logit_bias()), dtype=torch.uint8)
                    logits[row].masked_fill_(allowed.to(self._device) == 0, -torch.inf)
            return
        early = [row for row, (least, _) in enumerate(self._lengths) if len(self.answers[row]) + 1 < least]
        early += [row for row, (least, most) in enumerate(self._lengths) if len(self.answers[row]) + 1 == least == most]
        if early and self._ends:
            logits[torch.tensor(early).unsqueeze(1), torch.tensor(self._ends)] = -torch.inf

    def _choose(self, logits: Any) -> Any:
        if self._random is None:
            return logits.argmax(-1)
        odds = self._torch.softmax(logits / self._temperature, -1)
        return self._torch.multinomial(odds, 1, generator=self._random).squeeze(1)

    def _take(self, row: int, token: int) -> int | None:
        if not self._going[row]:
            return None
        answer = self.answers[row]
        answer.append(token)
        ended = token in self._ends or len(answer) == self._lengths[row][1]
        if self.matchers is not None:
            self.matchers[row].consume_token(token)
            ended = ended or self.matchers[row].is_stopped()
        self._going[row] = not ended
        return token

    def texts(self) -> list[str]:
        found: list[str] = self._lm.tokenizer.batch_decode(self.answers, skip_special_tokens=True)
        return found


def end_tokens(lm: LanguageModel) -> list[int]:
    """Ids of the tokens with which the model ends an answer."""
    ids = lm.model.generation_config.eos_token_id
    ids = lm.tokenizer.eos_token_id if ids is None else ids
    return [] if ids is None else [*ids] if isinstance(ids, list | tuple) else [ids]
