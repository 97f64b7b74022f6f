from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.errors import UsageError
from assay.names import unknown
from assay.pipeline.stage import Stage, Worker
from assay.record.metric import Metric
from assay.stages.llm_huggingface.chat import ChatTokens, read_chat_rows
from assay.stages.llm_huggingface.models import ModelStage, load_tokenizer
from assay.stages.pytorch.components import Options
from assay.stages.pytorch.prompt_batch import PromptBatch
from assay.stages.pytorch.tiny_model import SIZES, TINY

if TYPE_CHECKING:
    from assay.stages.llm_huggingface.chat import ChatRows


class DatasetOptions(Options):
    name: str = TINY
    """A file, a folder, a name of the hub, or `tiny`."""
    subset: str | None = None
    system_column_name: str | None = "instruction"
    user_column_name: str | None = "input"
    assistant_column_name: str | None = "output"
    instruction: str | None = None
    """One instruction for all rows, instead of a column."""

    def check(self, splits: tuple[str, ...]) -> None:
        for split in splits if self.name == TINY else ():
            if split not in SIZES:
                raise ValueError(f"split: {unknown('split', split, SIZES, of='the tiny data set')}")


class HuggingFaceDataLoader(Stage[int, PromptBatch]):
    """Batches of a data set of conversations, as tokens, so that a model's time has no tokenizer in it.

    For a stage that trains: prompt and answer, with the answer's tokens as labels. For one that answers: prompts.
    Every batch has `batch_size` rows: what is left at the end of a split is left out.
    """

    name = "data loader"

    def __init__(
        self,
        batch_size: int = 1,
        shuffle: bool = True,
        split: Sequence[str] | str = ("train",),
        dataset: Mapping[str, Any] | None = None,
        tokenizer_stage_id: int | None = None,
        accelerator_stage_id: int | None = None,
        seed: int = 0,
        max_length: int | None = None,
    ) -> None:
        if batch_size < 1:
            raise ValueError(f"batch_size must be at least 1, not {batch_size}")
        if max_length is not None and max_length < 2:
            raise ValueError(f"max_length must be at least 2 tokens, not {max_length}")
        self.rows_a_batch = batch_size
        self.shuffle = shuffle
        self.splits = (split,) if isinstance(split, str) else tuple(split)
        if not self.splits:
            raise ValueError("split: name at least one")
        self.dataset = DatasetOptions.read("dataset", dataset)
        self.dataset.check(self.splits)
        self.tokenizer_stage_id = tokenizer_stage_id
        self.accelerator_stage_id = accelerator_stage_id
        self.uses = tuple(dict.fromkeys(i for i in (tokenizer_stage_id, accelerator_stage_id) if i is not None))
        self.seed = seed
        self.max_length = max_length
        self._linked: Mapping[int, Stage[Any, Any]] = {}
        self._rows: list[ChatRows] = []
        self._orders: list[Any] = []
        self._ends: list[int] = []
        self._tokens: ChatTokens | None = None
        self._learns = False
        self._batches = 0
        self._read = 0

    def link(self, stages: Mapping[int, Stage[Any, Any]]) -> None:
        self._linked = stages

    def setup(self, worker: Worker) -> None:
        self._tokens, self._learns = self._tokenizer()
        self._rows = self._open()
        rng = np.random.default_rng(self.seed)
        self._orders = [rng.permutation(len(rows)) if self.shuffle else np.arange(len(rows)) for rows in self._rows]
        self._ends = list(accumulate(max(len(rows) // self.rows_a_batch, 1) for rows in self._rows))
        for stage in self._linked.values():
            if isinstance(stage, ModelStage):
                stage.expect_batches(len(self))

    def _open(self) -> list[ChatRows]:
        return read_chat_rows(self.dataset, self.splits)

    def _tokenizer(self) -> tuple[ChatTokens | None, bool]:
        if self.tokenizer_stage_id is None:
            loaded = load_tokenizer(TINY)
            return ChatTokens(loaded, self.max_length or loaded.model_max_length), "train" in self.splits
        stage = self._linked[self.tokenizer_stage_id]
        tokenizer = getattr(stage, "tokenizer", None)
        if tokenizer is None or not hasattr(tokenizer, "apply_chat_template"):
            raise UsageError(
                f"tokenizer_stage_id: stage {self.tokenizer_stage_id} is a {type(stage).__name__}, which has no "
                "tokenizer of transformers; name a stage that loads a model"
            )
        most = stage.language_model.context if isinstance(stage, ModelStage) else tokenizer.model_max_length
        return ChatTokens(tokenizer, min(self.max_length or most, most)), getattr(stage, "learns", False)

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def process(self, data: int) -> PromptBatch:
        at = bisect_right(self._ends, data)
        first = (data - (self._ends[at - 1] if at else 0)) * self.rows_a_batch
        rows = self._rows[at].take(self._orders[at][first : first + self.rows_a_batch])
        self._batches += 1
        self._read += len(rows)
        assert self._tokens is not None
        make = self._tokens.examples if self._learns else self._tokens.prompts
        batch = make(rows, self._rows[at].split)
        if self.accelerator_stage_id is None:
            return batch
        stage = self._linked[self.accelerator_stage_id]
        return batch.to(stage.language_model.device.torch) if isinstance(stage, ModelStage) else batch

    def start_measuring(self) -> None:
        self._batches = self._read = 0
        if self._tokens is not None:
            self._tokens.cut = 0

    def measured(self) -> Sequence[Metric]:
        cut = 0 if self._tokens is None else self._tokens.cut
        return (Metric("rows", self._read, exact=True), Metric("rows_cut", cut, better="lower", exact=True))

    def notes(self) -> Sequence[str]:
        if self._tokens is not None and self._tokens.tokenizer.chat_template is None:
            return ("the tokenizer has no chat template: instruction, input and answer are separated by empty lines",)
        return ()


class MockDataLoader(HuggingFaceDataLoader):
    """Takes the keys of a data loader and reads no data set: its rows are made here."""

    name = "mock data loader"

    def _open(self) -> list[ChatRows]:
        return read_chat_rows(DatasetOptions(), ("train",) * len(self.splits))

    def notes(self) -> Sequence[str]:
        said = f"made-up rows: the data set {self.dataset.name!r} is not read"
        return (*super().notes(), *([said] if self.dataset.name != TINY else []))
