from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from assay.errors import DataError, UsageError
from assay.pipeline.stage import Stage, StreamStage, Worker
from assay.record.metric import Metric
from assay.stages.llm_torchtune.checkpoint import build_tokenizer, padding_id, read_checkpointer
from assay.stages.llm_torchtune.data_loader import TuneBatch, prompts
from assay.stages.llm_torchtune.decoder import Decoder, DecoderOptions, build_decoder
from assay.stages.llm_torchtune.torchtune_library import torchtune
from assay.stages.pytorch.device import choose_device, dtype_name, library, quiet, torch_dtype
from assay.stages.pytorch.prompt_batch import AnswerBatch, PromptBatch


@dataclass(frozen=True)
class GeneratedTokens:
    """One step of generation: the next token of each row, None where its answer has ended."""

    tokens: tuple[int | None, ...]
    prompt_lengths: tuple[int, ...]
    context: Any = None


def answers(steps: Sequence[GeneratedTokens], tokenizer: Any, stop: Sequence[int]) -> AnswerBatch:
    rows = [[token for token in column if token is not None] for column in zip(*(s.tokens for s in steps), strict=True)]
    texts = tuple(_text([token for token in row if token not in stop], tokenizer) for row in rows)
    return AnswerBatch(texts, steps[0].prompt_lengths, tuple(map(len, rows)), steps[0].context)


def _text(tokens: list[int], tokenizer: Any) -> str:
    try:
        return str(tokenizer.decode(tokens))
    except (TypeError, KeyError):
        # Models of some families have more tokens than their tokenizer.
        return str(tokenizer.decode([token for token in tokens if _is_known(token, tokenizer)]))


def _is_known(token: int, tokenizer: Any) -> bool:
    try:
        tokenizer.decode([token])
    except (TypeError, KeyError):
        return False
    return True


_CACHE_STEP = 256
"""Caches are as long as needed, in these steps: prompts of nearly one length share one cache."""


@dataclass(frozen=True)
class TokenSampling:
    temperature: float = 0.0
    top_k: int | None = None
    most: int = 32
    least: int = 0
    """Fewest tokens of an answer: none ends before."""

    def __post_init__(self) -> None:
        if self.temperature < 0:
            raise ValueError(f"temperature must not be below 0, not {self.temperature}")
        if self.top_k is not None and self.top_k < 1:
            raise ValueError(f"top_k must be at least 1, not {self.top_k}")
        if self.most < 1:
            raise ValueError(f"max_new_tokens must be at least 1, not {self.most}")
        if not 0 <= self.least <= self.most:
            raise ValueError(f"min_new_tokens must be from 0 to max_new_tokens ({self.most}), not {self.least}")

    def choose(self, logits: Any, random: Any) -> Any:
        """A token a row."""
        if self.temperature == 0:
            return logits.argmax(dim=-1, keepdim=True)
        drawn = library("torch", "llm").empty_like(logits).exponential_(1, generator=random)
        sample = torchtune("torchtune.generation").sample
        return sample(logits, temperature=self.temperature, top_k=self.top_k, q=drawn).long()


def token_steps(
    decoder: Decoder, prompts: TuneBatch, stop: Sequence[int], sampling: TokenSampling, cache: bool, random: Any
) -> Iterator[tuple[int | None, ...]]:
    """The next token of every prompt, step by step, until all answers have ended or are as long as they may be.

    The caller holds the decoder's lock: with `cache`, the model remembers the prompts from step to step.
    """
    torch, generation = library("torch", "llm"), torchtune("torchtune.generation")
    device = decoder.device.torch
    tokens = prompts.tokens.to(device)
    rows, length = tokens.shape
    total = length + sampling.most
    if total > decoder.context:
        raise DataError(
            f"a prompt of {length} tokens and {sampling.most} new ones (max_new_tokens) are more than the "
            f"{decoder.context} that the model takes"
        )
    model = decoder.model
    decoder.set_training(False)
    width = prepare_cache(decoder, rows, total) if cache else total
    gaps = torch.tensor([[length - own] for own in prompts.lengths], device=device)
    real = torch.arange(total, device=device).expand(rows, total) >= gaps
    masks = generation.get_causal_mask_from_padding_mask(real, target_seq_len=width)
    places = generation.get_position_ids_from_padding_mask(real)
    forbidden = torch.tensor(list(stop), device=device, dtype=torch.long)
    ended = [False] * rows
    fed, begin = tokens, 0
    for step in range(sampling.most):
        end = length + step
        with torch.no_grad():
            if cache:
                logits = model(fed, mask=masks[:, begin:end], input_pos=places[:, begin:end])
            else:
                logits = decoder.run_uncached(fed, masks[:, :end, :end], places[:, :end])
            logits = logits[:, -1].float()
            if step < sampling.least:
                logits[:, forbidden] = -torch.inf
            chosen = sampling.choose(logits, random)
        numbers = chosen.flatten().tolist()
        yield tuple(None if over else number for over, number in zip(ended, numbers, strict=True))
        ended = [over or number in stop for over, number in zip(ended, numbers, strict=True)]
        if all(ended):
            return
        if cache:
            fed, begin = chosen, end
        else:
            fed = torch.cat([fed, chosen], dim=1)


def prepare_cache(decoder: Decoder, rows: int, total: int) -> int:
    """The length of an empty cache of the model that is large enough."""
    model = decoder.model
    length = min(-(-total // _CACHE_STEP) * _CACHE_STEP, decoder.context)
    if model.caches_are_setup():
        held = model.layers[0].attn.kv_cache
        if held.batch_size == rows and model.decoder_max_cache_seq_len >= total:
            model.reset_caches()
            return int(model.decoder_max_cache_seq_len)
        torchtune("torchtune.modules.common_utils").delete_kv_caches(model)
    with decoder.device.torch:
        model.setup_caches(rows, torch_dtype(decoder.dtype), decoder_max_seq_len=length)
    return length


class InferenceOptions(DecoderOptions):
    KV_cache: bool = False
    """Keys and values of tokens that were seen are kept, instead of computed anew for every token."""


class TorchTuneInference(StreamStage[TuneBatch | PromptBatch, GeneratedTokens]):
    """Answers prompts with a model of torchtune's, a token at a time."""

    name = "inference"

    def __init__(
        self,
        model: Mapping[str, Any] | None = None,
        checkpointer: Mapping[str, Any] | None = None,
        temperature: float = 0.0,
        top_k: int | None = None,
        max_new_tokens: int = 32,
        min_new_tokens: int = 0,
        tokenizer_stage_id: int | None = None,
        batch_size_stage_id: int | None = None,
        depends_on_id: int | None = None,
        dtype: str = "float32",
        device: str | None = None,
        seed: int = 0,
    ) -> None:
        """`temperature` 0 takes the likeliest token. `min_new_tokens` equal to `max_new_tokens` fixes the length."""
        self._sampling = TokenSampling(temperature, top_k, max_new_tokens, min_new_tokens)
        self._options = InferenceOptions.read("model", model)
        self._checkpointer = read_checkpointer(checkpointer)
        if depends_on_id is not None and (self._checkpointer is not None or self._options.component is not None):
            raise ValueError(
                "depends_on_id takes the model of another stage: leave model.component and checkpointer out"
            )
        self._tokenizer_stage, self._batch_stage, self._model_stage = (
            tokenizer_stage_id,
            batch_size_stage_id,
            depends_on_id,
        )
        named = (tokenizer_stage_id, batch_size_stage_id, depends_on_id)
        self.uses = tuple(dict.fromkeys(one for one in named if one is not None))
        self._dtype = dtype_name(dtype)
        self._device = device
        self._seed = seed
        self._linked: Mapping[int, Any] = {}
        self._decoder: Decoder | None = None

    @property
    def decoder(self) -> Decoder:
        if self._decoder is None:
            raise UsageError("Inference has not been set up: it has no model yet")
        return self._decoder

    def link(self, stages: Mapping[int, Stage[Any, Any]]) -> None:
        self._linked = stages

    def setup(self, worker: Worker) -> None:
        if self._model_stage is not None:
            self._decoder = self._of("depends_on_id", self._model_stage, "decoder")
        self.tokenizer = self._find_tokenizer()
        if self._decoder is None:
            device = choose_device(self._device, worker.device)
            self._decoder = build_decoder(
                self._options, self._checkpointer, device, self._dtype, self._seed, adapters=False
            )
        self._decoder.check_tokens(self.tokenizer)
        self._padding = padding_id(self.tokenizer)
        self._stop = [token for token in getattr(self.tokenizer, "stop_tokens", ()) if token is not None]
        with quiet():
            self._compute_once()

    def _compute_once(self) -> None:
        """Two tokens: what is built at the first use, and the memory of a cache, are not part of the first query."""
        key, size = "batch_size_stage_id", 1
        if self._batch_stage is not None:
            size = int(self._of(key, self._batch_stage, "samples_per_batch"))
        self.start_measuring()
        cached = self._options.KV_cache
        if cached:
            prepare_cache(self.decoder, size, self._sampling.most)
        batch = prompts([[0, 0]] * size, "", self._padding)
        with self.decoder.lock:
            list(token_steps(self.decoder, batch, (), TokenSampling(most=2), cached, self._random))
        self.start_measuring()

    def start_measuring(self) -> None:
        # Random numbers begin at the seed again: how many queries warmed it up changes no answer.
        self._random = library("torch", "llm").Generator(self.decoder.device.torch).manual_seed(self._seed)
        self._seconds = 0.0
        self._tokens = self._prompt_tokens = 0

    def process(self, data: TuneBatch | PromptBatch) -> Iterator[GeneratedTokens]:
        batch = data if isinstance(data, TuneBatch) else self._tokenize(data)
        context = data.context if isinstance(data, PromptBatch) else None
        steps = token_steps(self.decoder, batch, self._stop, self._sampling, self._options.KV_cache, self._random)
        self._prompt_tokens += sum(batch.lengths)
        with self.decoder.lock:
            while True:
                begun = perf_counter()
                tokens = next(steps, None)
                self._seconds += perf_counter() - begun
                if tokens is None:
                    return
                self._tokens += sum(token is not None for token in tokens)
                yield GeneratedTokens(tokens, batch.lengths, context)

    def collected(self, items: list[GeneratedTokens]) -> AnswerBatch:
        return answers(items, self.tokenizer, self._stop)

    def measured(self) -> Sequence[Metric]:
        if not self._seconds:
            return ()
        return (
            Metric("prompt_tokens", self._prompt_tokens, exact=True),
            Metric("answer_tokens", self._tokens, exact=True),
            Metric("tokens_per_s", self._tokens / self._seconds, "1/s", "higher"),
        )

    def notes(self) -> Sequence[str]:
        return self.decoder.notes if self._model_stage is None else ()

    def _tokenize(self, data: PromptBatch) -> TuneBatch:
        rows = [self.tokenizer.encode(text, add_bos=False, add_eos=False) for text in data.prompts]
        return prompts(rows, data.split, self._padding)

    def _find_tokenizer(self) -> Any:
        if self._tokenizer_stage is not None:
            return self._of("tokenizer_stage_id", self._tokenizer_stage, "tokenizer")
        if self._model_stage is not None and hasattr(self._linked[self._model_stage], "tokenizer"):
            return self._linked[self._model_stage].tokenizer
        if self._options.component is None and self._checkpointer is None and self._model_stage is None:
            return build_tokenizer(None)
        raise UsageError("tokenizer_stage_id is missing: name the stage whose tokenizer belongs to the model")

    def _of(self, key: str, stage: int, attribute: str) -> Any:
        try:
            return getattr(self._linked[stage], attribute)
        except AttributeError:
            raise UsageError(
                f"{key}: stage {stage} has no {attribute}; name a stage of llm_torchtune that has"
            ) from None
