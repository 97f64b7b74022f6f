from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.errors import AssayError, DataError
from assay.names import unknown
from assay.stages.pytorch.device import library, quiet
from assay.stages.pytorch.hub import cannot_load, is_path, local_path, require_reachable
from assay.stages.pytorch.prompt_batch import PromptBatch
from assay.stages.pytorch.tiny_model import TINY, tiny_rows

if TYPE_CHECKING:
    from assay.stages.llm_huggingface.huggingface_data_loader import DatasetOptions


@dataclass(frozen=True)
class ChatRow:
    """What a conversation consists of; a part that a data set lacks is empty."""

    system: str
    user: str
    assistant: str

    @property
    def messages(self) -> list[dict[str, str]]:
        """The messages up to the answer. Without an input, the instruction is the question itself."""
        if not self.user:
            return [{"role": "user", "content": self.system}]
        asked = {"role": "user", "content": self.user}
        return [{"role": "system", "content": self.system}, asked] if self.system else [asked]


_READERS = {".json": "json", ".jsonl": "json", ".csv": "csv", ".parquet": "parquet"}


@dataclass(frozen=True)
class ChatRows:
    """The rows of one split, read when they are asked for."""

    split: str
    columns: tuple[str | None, str | None, str | None]
    """Names of the columns of system, user and assistant text."""
    data: Any
    """A `datasets.Dataset`, or a list of mappings."""
    instruction: str | None = None

    def __len__(self) -> int:
        return len(self.data)

    def take(self, at: Iterable[int]) -> list[ChatRow]:
        return [self._row(self.data[int(each)]) for each in at]

    def _row(self, row: Any) -> ChatRow:
        system, user, assistant = ("" if name is None else str(row[name] or "") for name in self.columns)
        return ChatRow(self.instruction or system, user, assistant)


def read_chat_rows(options: DatasetOptions, splits: Sequence[str]) -> list[ChatRows]:
    columns = (
        options.system_column_name if options.instruction is None else None,
        options.user_column_name,
        options.assistant_column_name,
    )
    if options.name == TINY:
        found: list[Any] = [[vars(row) for row in tiny_rows(split)] for split in splits]
        names = [*vars(tiny_rows("test")[0])]
    else:
        found = _read(options, list(splits))
        names = list(found[0].column_names)
    for column in columns:
        if column is not None and column not in names:
            raise DataError(f"dataset {options.name!r}: {unknown('column', column, names)}")
    for split, rows in zip(splits, found, strict=True):
        if len(rows) == 0:
            raise DataError(f"dataset {options.name!r}: the split {split!r} has no rows")
    return [ChatRows(split, columns, rows, options.instruction) for split, rows in zip(splits, found, strict=True)]


def _read(options: DatasetOptions, splits: list[str]) -> list[Any]:
    datasets = library("datasets", "llm")
    try:
        with quiet():
            if is_path(options.name):
                return _from_path(datasets, local_path(options.name, "dataset"), options, splits)
            return _from_hub(datasets, options, splits)
    except AssayError:
        raise
    except Exception as error:  # noqa: BLE001  (whatever a file or a network may be wrong in)
        raise cannot_load(options.name, "dataset", error) from None


def _from_path(datasets: Any, path: Path, options: DatasetOptions, splits: list[str]) -> list[Any]:
    reader = _READERS.get(path.suffix)
    if reader is not None:
        # A file is one split, whatever it is called.
        return [datasets.load_dataset(reader, data_files=str(path), split="train") for _ in splits]
    if path.is_file():
        raise DataError(f"dataset {options.name!r}: {unknown('kind of file', path.suffix, _READERS)}")
    if (path / "dataset_dict.json").exists():
        saved = datasets.load_from_disk(str(path))
        if wrong := [split for split in splits if split not in saved]:
            raise DataError(f"dataset {options.name!r}: {unknown('split', wrong[0], saved)}")
        return [saved[split] for split in splits]
    if (path / "dataset_info.json").exists():
        return [datasets.load_from_disk(str(path)) for _ in splits]
    loaded: list[Any] = datasets.load_dataset(str(path), options.subset, split=splits)
    return loaded


def _from_hub(datasets: Any, options: DatasetOptions, splits: list[str]) -> list[Any]:
    hub = library("huggingface_hub", "llm")
    try:
        # What was downloaded before is used as it is, without asking the network.
        folder = hub.snapshot_download(options.name, repo_type="dataset", local_files_only=True)
    except Exception:  # noqa: BLE001  (not there, or not whole: then from the hub)
        require_reachable(options.name, "dataset")
        folder = options.name
    loaded: list[Any] = datasets.load_dataset(folder, options.subset, split=splits)
    return loaded


IGNORED = -100
"""Label of a token that is not learnt: of the prompt, or padding."""


@dataclass(frozen=True)
class TokenBatch(PromptBatch):
    """Prompts, or with `labels` whole conversations, as tensors of one row each."""

    input_ids: Any = None
    attention_mask: Any = None
    labels: Any = None
    tokens: int = 0
    """Tokens that are not padding."""
    label_tokens: int = 0
    """Tokens that count in the loss: each is predicted from the one before it."""

    def to(self, device: Any) -> TokenBatch:
        if self.input_ids.device == device:
            return self
        return replace(
            self,
            input_ids=self.input_ids.to(device),
            attention_mask=self.attention_mask.to(device),
            labels=None if self.labels is None else self.labels.to(device),
        )


def pad(rows: Sequence[Sequence[int]], filler: int, left: bool) -> Any:
    """A tensor as wide as the longest row."""
    width = max(map(len, rows))
    gaps = [[filler] * (width - len(row)) for row in rows]
    filled = [[*gap, *row] if left else [*row, *gap] for gap, row in zip(gaps, rows, strict=True)]
    return library("torch", "llm").tensor(filled)


def mask_of(rows: Sequence[Sequence[int]], left: bool) -> Any:
    return pad([[1] * len(row) for row in rows], 0, left)


class ChatTokens:
    """Rows → text by the tokenizer's chat template → tokens."""

    def __init__(self, tokenizer: Any, most: int) -> None:
        self.tokenizer = tokenizer
        self.most = most
        """Tokens of a row at most; of a prompt the end is kept, of a conversation to learn from the beginning."""
        self.cut = 0
        """Rows that were longer."""
        self._template = tokenizer.chat_template is not None
        self._system = self._template and _takes_system(tokenizer)

    def prompt(self, row: ChatRow) -> str:
        return self._apply_template(row.messages, add_generation_prompt=True)

    def prompts(self, rows: Sequence[ChatRow], split: str) -> TokenBatch:
        """Padded on the left, so that every answer begins where its prompt ends."""
        texts = [self.prompt(row) for row in rows]
        ids = [self._count_cut(one)[-self.most :] for one in self._tokens(texts)]
        return self._batch(rows, texts, split, ids, left=True)

    def examples(self, rows: Sequence[ChatRow], split: str) -> TokenBatch:
        """Prompt and answer; only the answer's tokens are labels.

        Both are turned into tokens apart, so that a prompt has the same tokens here as when it is asked.
        """
        texts = [self.prompt(row) for row in rows]
        answers = [self._answer(row, text) for row, text in zip(rows, texts, strict=True)]
        tokens = self._tokens([*texts, *answers])
        ids, labels = [], []
        for asked, answered in zip(tokens[: len(rows)], tokens[len(rows) :], strict=True):
            ids.append(self._count_cut([*asked, *answered])[: self.most])
            labels.append([*([IGNORED] * len(asked)), *answered][: self.most])
        return self._batch(rows, texts, split, ids, left=False, labels=labels)

    def _batch(
        self,
        rows: Sequence[ChatRow],
        texts: Sequence[str],
        split: str,
        ids: list[list[int]],
        left: bool,
        labels: list[list[int]] | None = None,
    ) -> TokenBatch:
        return TokenBatch(
            prompts=tuple(texts),
            split=split,
            references=tuple(row.assistant for row in rows),
            input_ids=pad(ids, self.tokenizer.pad_token_id or 0, left),
            attention_mask=mask_of(ids, left),
            labels=None if labels is None else pad(labels, IGNORED, left),
            tokens=sum(map(len, ids)),
            # The first token of a row follows nothing that could predict it.
            label_tokens=sum(label != IGNORED for row in labels or () for label in row[1:]),
        )

    def _count_cut(self, ids: list[int]) -> list[int]:
        self.cut += len(ids) > self.most
        return ids

    def _tokens(self, texts: Sequence[str]) -> list[list[int]]:
        found: list[list[int]] = self.tokenizer(list(texts), add_special_tokens=not self._template).input_ids
        return found

    def _answer(self, row: ChatRow, prompt: str) -> str:
        whole = self._apply_template([*row.messages, {"role": "assistant", "content": row.assistant}])
        if self._template and whole.startswith(prompt):
            return whole[len(prompt) :]
        return row.assistant + (self.tokenizer.eos_token or "")

    def _apply_template(self, messages: list[dict[str, str]], **options: Any) -> str:
        if not self._template:
            return "\n\n".join(message["content"] for message in messages) + "\n\n"
        if not self._system and messages[0]["role"] == "system":
            joined = "\n\n".join(message["content"] for message in messages[:2])
            messages = [{"role": "user", "content": joined}, *messages[2:]]
        text: str = self.tokenizer.apply_chat_template(messages, tokenize=False, **options)
        return text


def _takes_system(tokenizer: Any) -> bool:
    """Some families' templates refuse a system message."""
    try:
        tokenizer.apply_chat_template(ChatRow("a", "b", "").messages, tokenize=False)
    except Exception:  # noqa: BLE001  (templates raise what they like)
        return False
    return True
