from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from time import perf_counter
from typing import Any

from assay.errors import UsageError
from assay.pipeline.stage import Stage, StreamStage, Worker
from assay.record.metric import Metric
from assay.stages.llm_huggingface.chat import TokenBatch, mask_of, pad
from assay.stages.llm_huggingface.generation import AnswerLengths, AnswerSchema, Generation, Sampling
from assay.stages.llm_huggingface.models import (
    GenerationOptions,
    InferenceModelOptions,
    LanguageModel,
    ModelStage,
    load_causal_model,
    load_tokenizer,
)
from assay.stages.pytorch.device import choose_device, dtype_name, torch_dtype
from assay.stages.pytorch.prompt_batch import AnswerBatch, PromptBatch
from assay.stages.pytorch.tiny_model import TINY


@dataclass(frozen=True, slots=True)
class TokenStep:
    """One token of every answer of a batch; None for an answer that has ended."""

    tokens: tuple[int | None, ...]
    generation: Generation
    """What it is a step of."""


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


class HuggingFaceInference(ModelStage, StreamStage[Any, TokenStep]):
    """Answers a batch of prompts, token by token, so that a driver sees the first one come and the time between."""

    name = "inference"
    learns = False

    def __init__(
        self,
        model: Mapping[str, Any] | None = None,
        dtype: str | None = None,
        device: str | None = None,
        data_model: str | Mapping[str, Any] | None = None,
        max_new_tokens: int | None = None,
        min_new_tokens: int | None = None,
        lengths: Mapping[str, Any] | None = None,
        depends_on_id: int | None = None,
        seed: int = 0,
    ) -> None:
        self.options = InferenceModelOptions.read("model", model)
        self.options.require_gpu(device)
        extra = GenerationOptions.read("model.gen_kwargs", self.options.gen_kwargs)
        self.dtype = None if dtype is None else dtype_name(dtype)
        self.device = device
        most, least = max_new_tokens or extra.max_new_tokens, min_new_tokens or extra.min_new_tokens
        if data_model is not None and (least is not None or lengths is not None):
            raise ValueError("data_model says where an answer ends: leave min_new_tokens and lengths out")
        if seed < 0:
            raise ValueError(f"seed must be 0 or more, not {seed}")
        self.lengths = AnswerLengths.read(most, least, lengths, seed)
        self.schema = None if data_model is None else AnswerSchema(data_model)
        given = self.options.temperature
        self.sampling = Sampling((extra.temperature if given is None else given) or 0.0, seed)
        self.depends_on_id = depends_on_id
        self.uses = () if depends_on_id is None else (depends_on_id,)
        self._provider: Stage[Any, Any] | None = None
        self._forget()

    def _forget(self) -> None:
        self._prompt_tokens = self._answer_tokens = self._answers = self._following = self._cut = 0
        self._busy_s = 0.0

    def link(self, stages: Mapping[int, Stage[Any, Any]]) -> None:
        if self.depends_on_id is not None:
            self._provider = stages[self.depends_on_id]

    def setup(self, worker: Worker) -> None:
        self._language_model = self._load_model(worker) if self._provider is None else self._share_model(self._provider)
        lm = self._language_model
        self._prompts = PromptTokens(lm, lm.context - self.lengths.most)
        if self.schema is not None:
            self.schema.setup(lm.tokenizer, lm.model.get_output_embeddings().weight.shape[0])
        # Two tokens: the first reads the prompt, the second is the first that uses what was kept of it.
        self.collected(list(self._steps(PromptBatch(("warm-up", "of two prompts")), [(2, 2)] * 2)))
        self._forget()

    def _load_model(self, worker: Worker) -> LanguageModel:
        name, dtype = self.options.name, self.dtype or "float32"
        device = choose_device(self.device, worker.device)
        model = load_causal_model(name, torch_dtype(dtype), device.torch, self.options.quantize)
        return LanguageModel(name, model, load_tokenizer(name), device, dtype)

    def _share_model(self, provider: Stage[Any, Any]) -> LanguageModel:
        if not isinstance(provider, ModelStage):
            raise UsageError(
                f"depends_on_id: stage {self.depends_on_id} is a {type(provider).__name__}, which loads no model of "
                "transformers; name an Inference or Finetune of llm_huggingface"
            )
        lm = provider.language_model
        if self.options.name not in (TINY, lm.name):
            raise UsageError(
                f"depends_on_id: stage {self.depends_on_id} has loaded {lm.name!r}, and this one names "
                f"{self.options.name!r}: name the same model, or leave depends_on_id out"
            )
        return lm

    def process(self, data: Any) -> Iterator[TokenStep]:
        batch = data if isinstance(data, PromptBatch) else _as_prompts(data)
        return self._steps(batch, [self.lengths.of(prompt) for prompt in batch.prompts])

    def _steps(self, batch: PromptBatch, lengths: Sequence[tuple[int, int]]) -> Iterator[TokenStep]:
        lm = self.language_model
        with lm.lock:
            tokens = self._prompts.of(batch)
            began = perf_counter()
            lm.set_training(False)
            generation = Generation(lm, tokens, lengths, self.sampling, self.schema)
            while not generation.over:
                words = generation.step()
                self._busy_s += perf_counter() - began
                yield TokenStep(words, generation)
                began = perf_counter()

    def collected(self, items: list[TokenStep]) -> AnswerBatch:
        generation = items[0].generation
        batch, texts = generation.batch, generation.texts()
        answer = AnswerBatch(
            texts=tuple(texts),
            prompt_tokens=tuple(batch.attention_mask.sum(1).tolist()),
            answer_tokens=tuple(map(len, generation.answers)),
            context=batch.context,
            parsed=tuple(self._parse(generation, texts)),
        )
        self._answers += len(texts)
        self._prompt_tokens += sum(answer.prompt_tokens)
        self._answer_tokens += sum(answer.answer_tokens)
        self._following += sum(value is not None for value in answer.parsed)
        return answer

    def _parse(self, generation: Generation, texts: list[str]) -> Iterator[Any]:
        if self.schema is not None and generation.matchers is not None:
            for text, matcher in zip(texts, generation.matchers, strict=True):
                yield self.schema.parse(text, matcher.is_accepting() or matcher.is_stopped())

    def start_measuring(self) -> None:
        self._forget()
        self._prompts.cut = 0

    def measured(self) -> Sequence[Metric]:
        found = [
            Metric("prompt_tokens", self._prompt_tokens, exact=True),
            Metric("answer_tokens", self._answer_tokens, exact=True),
            Metric("prompts_cut", self._prompts.cut, better="lower", exact=True),
        ]
        if self._busy_s:
            found.append(Metric("tokens_per_s", self._answer_tokens / self._busy_s, "1/s", "higher"))
        if self.schema is not None and self._answers:
            found.append(Metric("schema_followed", self._following / self._answers, better="higher"))
        return found

    def notes(self) -> Sequence[str]:
        lm = self.language_model
        said = [lm.device.note] if lm.device.note and self._provider is None else []
        if self._provider is not None and self.dtype not in (None, lm.dtype):
            said.append(f"asked for {self.dtype}: the model that it shares is {lm.dtype}")
        if self.schema is not None and self.schema.note:
            said.append(self.schema.note)
        return said


def _as_prompts(data: Any) -> PromptBatch:
    """Text, or several, as stages of a user's own give it."""
    texts = (data,) if isinstance(data, str) else tuple(data) if isinstance(data, list | tuple) else ()
    if not texts or not all(isinstance(text, str) for text in texts):
        raise UsageError(
            f"Inference was given a {type(data).__name__}: it answers a PromptBatch, a text or a list of texts"
        )
    return PromptBatch(texts)
