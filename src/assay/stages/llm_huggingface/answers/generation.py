"""The answers to one batch of prompts, a token of each at a time, with the keys and values of earlier tokens kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from zlib import crc32

from assay.stages.llm_huggingface.answers.answer_schema import AnswerSchema
from assay.stages.llm_huggingface.conversations.token_batch import TokenBatch
from assay.stages.llm_huggingface.language_model import LanguageModel
from assay.stages.pytorch.libraries import library


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
