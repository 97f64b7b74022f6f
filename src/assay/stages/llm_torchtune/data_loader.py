from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from assay.errors import DataError, UsageError
from assay.names import unknown
from assay.pipeline.resources import Worker
from assay.pipeline.stage import Stage
from assay.record.metric import Metric
from assay.stages.llm_torchtune.data_set import TuneDatasetOptions, open_data_set
from assay.stages.llm_torchtune.tokenizer import TokenizerOptions, answer_header, build_tokenizer, padding_id
from assay.stages.llm_torchtune.torchtune_library import torchtune
from assay.stages.llm_torchtune.tune_batch import TuneBatch, conversations, prompts
from assay.stages.pytorch.libraries import library

SPLITS = {"train": (0.0, 0.8), "val": (0.8, 1.0)}
"""Parts of a data set, from where to where: which rows are in which is drawn from the seed."""


class TorchTuneDataLoader(Stage[int, TuneBatch]):
    """Batches of a data set of torchtune's: conversations to learn from, or prompts to answer."""

    name = "data"

    def __init__(
        self,
        batch_size: int = 1,
        shuffle: bool = True,
        split: Sequence[str] = ("train",),
        dataset: Mapping[str, Any] | None = None,
        tokenizer: Mapping[str, Any] | None = None,
        loss_fn_stage_id: int | None = None,
        seed: int = 0,
    ) -> None:
        """`loss_fn_stage_id`: the stage that learns; without it the batches are prompts, unless the load trains."""
        if batch_size < 1:
            raise ValueError(f"batch_size must be at least 1, not {batch_size}")
        self.samples_per_batch = batch_size
        self._splits = (split,) if isinstance(split, str) else tuple(split)
        for name in self._splits:
            if name not in SPLITS:
                raise ValueError(f"split: {unknown('split', name, SPLITS)}")
        if not self._splits:
            raise ValueError("split names none; give train, val or both")
        self._shuffle = shuffle
        self._seed = seed
        self._data_options = TuneDatasetOptions.read("dataset", dataset) if dataset else None
        if tokenizer:
            TokenizerOptions.read("tokenizer", tokenizer)
        self._tokenizer_options = dict(tokenizer or {})
        self._learner = loss_fn_stage_id
        self.uses = () if loss_fn_stage_id is None else (loss_fn_stage_id,)
        self._loss_stage: Any = None
        self._batches: list[tuple[str, list[int]]] = []
        self._unmasked = False
        self._read = 0

    def link(self, stages: Mapping[int, Stage[Any, Any]]) -> None:
        if self._learner is None:
            return
        self._loss_stage = stages[self._learner]
        if not hasattr(self._loss_stage, "ignored_label"):
            raise UsageError(f"loss_fn_stage_id: stage {self._learner} has no loss; name a llm_torchtune.Finetune")

    def setup(self, worker: Worker) -> None:
        self._learning = self._learner is not None or bool(worker.training)
        self.tokenizer = build_tokenizer(self._tokenizer_options)
        self._padding = padding_id(self.tokenizer)
        self._header = answer_header(self.tokenizer)
        own = torchtune("torchtune.data").CROSS_ENTROPY_IGNORE_IDX
        self._ignored = own if self._loss_stage is None else self._loss_stage.ignored_label
        self._rows = open_data_set(self._data_options, self.tokenizer, masked=not self._learning)
        self._batches = list(self._arrange(len(self._rows)))
        if not self._batches:
            raise DataError(
                f"the data set has {len(self._rows)} rows: too few for one batch of {self.samples_per_batch} "
                f"of {' and '.join(self._splits)}"
            )
        if self._loss_stage is not None:
            self._loss_stage.expect_batches(sum(split == "train" for split, _ in self._batches))

    def __len__(self) -> int:
        return len(self._batches)

    def process(self, data: int) -> TuneBatch:
        split, chosen = self._batches[data]
        rows = [self._rows[at] for at in chosen]
        self._read += len(rows)
        if self._learning:
            return conversations(rows, split, self._padding, self._ignored)
        return prompts([self._prompt(row) for row in rows], split, self._padding)

    def start_measuring(self) -> None:
        self._read = 0

    def measured(self) -> Sequence[Metric]:
        return (Metric("rows", self._read, exact=True),)

    def notes(self) -> Sequence[str]:
        if self._unmasked:
            return ("this data set does not say where its answers begin: whole rows were the prompts",)
        return ()

    def _prompt(self, row: Mapping[str, Any]) -> list[int]:
        """The tokens up to the first that would be learnt, and the words that open an answer."""
        tokens, labels = list(row["tokens"]), row["labels"]
        own = torchtune("torchtune.data").CROSS_ENTROPY_IGNORE_IDX
        end = next((at for at, label in enumerate(labels) if label != own), len(tokens))
        self._unmasked = self._unmasked or end == 0
        if tokens[end : end + len(self._header)] == self._header:
            end += len(self._header)
        return tokens[:end] or tokens

    def _arrange(self, rows: int) -> Any:
        """Whole batches only: of one size, so that queries can be compared."""
        torch = library("torch", "llm")
        generator = torch.Generator().manual_seed(self._seed)
        drawn = torch.randperm(rows, generator=generator).tolist()
        for split in self._splits:
            begin, end = (round(edge * rows) for edge in SPLITS[split])
            own = drawn[begin:end] if self._shuffle else sorted(drawn[begin:end])
            size = self.samples_per_batch
            for at in range(0, len(own) - size + 1, size):
                yield split, own[at : at + size]
