from __future__ import annotations

from collections.abc import Sequence

from assay.stages.llm_huggingface.conversations.chat_rows import ChatRows, read_chat_rows
from assay.stages.llm_huggingface.conversations.dataset_options import DatasetOptions
from assay.stages.llm_huggingface.huggingface_data_loader import HuggingFaceDataLoader
from assay.stages.pytorch.tiny_model import TINY


class MockDataLoader(HuggingFaceDataLoader):
    """Takes the keys of a data loader and reads no data set: its rows are made here."""

    name = "mock data loader"

    def _open(self) -> list[ChatRows]:
        return read_chat_rows(DatasetOptions(), ("train",) * len(self.splits))

    def notes(self) -> Sequence[str]:
        said = f"made-up rows: the data set {self.dataset.name!r} is not read"
        return (*super().notes(), *([said] if self.dataset.name != TINY else []))
