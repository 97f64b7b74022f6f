from __future__ import annotations

import functools
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.errors import AssayError, DataError, UsageError
from assay.names import unknown
from assay.pipeline.stage import Stage, Worker
from assay.record.metric import Metric
from assay.stages.llm_torchtune.checkpoint import TokenizerOptions, answer_header, build_tokenizer, padding_id
from assay.stages.llm_torchtune.torchtune_library import current_path, takes, torchtune
from assay.stages.pytorch.components import ComponentOptions, build_component, component
from assay.stages.pytorch.device import library, quiet
from assay.stages.pytorch.hub import is_path, require_reachable
from assay.stages.pytorch.tiny_model import tiny_rows


class TinyConversations:
    """The data set that is made here, in the form of torchtune's own: tokens, and labels of the answers alone."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self._rows = tiny_rows()
        self._ignored = torchtune("torchtune.data").CROSS_ENTROPY_IGNORE_IDX

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, at: int) -> Mapping[str, Any]:
        row = self._rows[at]
        message = torchtune("torchtune.data").Message
        asked = "\n".join(part for part in (row.instruction, row.input) if part)
        messages = [
            message(role="user", content=asked, masked=True),
            message(role="assistant", content=row.output, masked=False),
        ]
        tokens, mask = self._tokenizer.tokenize_messages(messages)
        labels = [self._ignored if masked else token for token, masked in zip(tokens, mask, strict=True)]
        return {"tokens": tokens, "mask": mask, "labels": labels}


@dataclass(frozen=True)
class TuneBatch:
    """Rows of a data set as torchtune's models take them: whole conversations with labels, or prompts without."""

    split: str
    tokens: Any
    """One row each; conversations are padded on the right, prompts on the left."""
    lengths: tuple[int, ...]
    """Tokens of each row that are not padding."""
    labels: Any = None
    mask: Any = None
    input_pos: Any = None
    """Positions in rows into which several conversations were packed."""


def conversations(rows: Sequence[Mapping[str, Any]], split: str, padding: int, ignored: int) -> TuneBatch:
    """`ignored`: label of a token that is not learnt."""
    collate = torchtune("torchtune.data")
    if "seq_lens" in rows[0]:
        packed = collate.padded_collate_packed(list(rows))
        lengths = tuple(len(row["tokens"]) for row in rows)
        return TuneBatch(split, packed["tokens"], lengths, packed["labels"], packed["mask"], packed["input_pos"])
    # Data sets mark with torchtune's own number what is not learnt; a loss may have another.
    own = collate.CROSS_ENTROPY_IGNORE_IDX
    padded = collate.padded_collate_sft(list(rows), padding_idx=padding, ignore_idx=own)
    labels = padded["labels"]
    if ignored != own:
        labels = labels.masked_fill(labels == own, ignored)
    return TuneBatch(split, padded["tokens"], tuple(len(row["tokens"]) for row in rows), labels)


def prompts(rows: Sequence[Sequence[int]], split: str, padding: int) -> TuneBatch:
    """Padded on the left, so that every answer begins where its prompt ends."""
    torch = library("torch", "llm")
    tensors = [torch.tensor(row) for row in rows]
    pad = torchtune("torchtune.data").left_pad_sequence
    return TuneBatch(split, pad(tensors, batch_first=True, padding_value=padding), tuple(map(len, rows)))


_READERS = ("arrow", "csv", "json", "parquet", "text", "webdataset", "xml")
"""Sources that are kinds of files, named by `data_files`."""
_OTHERWISE = "give `source: json` and `data_files: FILE`, or leave `dataset` out for the one that is made here"


class TuneDatasetOptions(ComponentOptions):
    """A builder of torchtune's and its keys: `source`, `data_files`, `packed`, …"""


def open_data_set(options: TuneDatasetOptions | None, tokenizer: Any, masked: bool) -> Any:
    """Rows of tokens and labels, by number. `masked`: prompts are told from answers, where the data set can do so."""
    if options is None:
        return TinyConversations(tokenizer)
    path = current_path(options.component)
    try:
        builder = component(path, "torchtune")
    except ValueError as error:
        raise UsageError(f"dataset.component: {error}") from None
    arguments = options.arguments
    if masked and takes(path, "train_on_input"):
        arguments.setdefault("train_on_input", False)
    source = _source(builder, arguments)
    if source and source not in _READERS and not is_path(source):
        arguments["source"] = _from_hub(source)
    for name in _files(arguments.get("data_files")):
        if not Path(name).is_file() and "://" not in name and "*" not in name:
            raise DataError(f"dataset.data_files: there is no file {Path(name).absolute()}")
    library("datasets", "llm").disable_progress_bars()
    try:
        with quiet():
            return build_component("dataset", ComponentOptions(component=path, **arguments), "torchtune", tokenizer)
    except AssayError:
        raise
    except Exception as error:  # noqa: BLE001  (whatever a file may be wrong in)
        why = next(iter(str(error).splitlines()), "")
        what = source or options.component
        raise DataError(f"dataset: {what} cannot be loaded: {type(error).__name__}: {why}; or {_OTHERWISE}") from None


def _source(builder: Any, arguments: dict[str, Any]) -> str:
    """Where the rows come from: as given, else the builder's own; nothing for one that has no such key."""
    kept = builder.keywords if isinstance(builder, functools.partial) else {}
    try:
        parameter = inspect.signature(builder).parameters.get("source")
    except (TypeError, ValueError):
        return ""
    default = None if parameter is None or parameter.default is parameter.empty else parameter.default
    return str(arguments.get("source") or kept.get("source") or default or "")


def _from_hub(name: str) -> str:
    """What was downloaded before is used as it is, without asking the network."""
    try:
        with quiet():
            found = library("huggingface_hub", "llm").snapshot_download(
                name, repo_type="dataset", local_files_only=True
            )
    except Exception:  # noqa: BLE001  (not there, or not whole: then from the hub)
        require_reachable(name, "dataset", _OTHERWISE)
        return name
    return str(found)


def _files(given: Any) -> list[str]:
    if isinstance(given, dict):
        return [name for value in given.values() for name in _files(value)]
    return [given] if isinstance(given, str) else [str(name) for name in given or ()]


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
