from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay.stages.llm_torchtune.torchtune_library import torchtune
from assay.stages.pytorch.libraries import library


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
