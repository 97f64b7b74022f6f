from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from time import perf_counter
from typing import Any

from assay.errors import UsageError
from assay.pipeline.resources import Worker
from assay.pipeline.stage import Stage, StreamStage
from assay.record.metric import Metric
from assay.stages.llm_torchtune.checkpoint import read_checkpointer
from assay.stages.llm_torchtune.decoder import Decoder
from assay.stages.llm_torchtune.decoder_builder import DecoderOptions, build_decoder
from assay.stages.llm_torchtune.generated_tokens import GeneratedTokens, answers
from assay.stages.llm_torchtune.token_steps import TokenSampling, prepare_cache, token_steps
from assay.stages.llm_torchtune.tokenizer import build_tokenizer, padding_id
from assay.stages.llm_torchtune.tune_batch import TuneBatch, prompts
from assay.stages.pytorch.device import choose_device
from assay.stages.pytorch.dtype import dtype_name
from assay.stages.pytorch.libraries import library, quiet
from assay.stages.pytorch.prompt_batch import AnswerBatch, PromptBatch


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
