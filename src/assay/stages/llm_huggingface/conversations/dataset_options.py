from __future__ import annotations

from assay.names import unknown
from assay.stages.pytorch.options import Options
from assay.stages.pytorch.tiny_model import TINY
from assay.stages.pytorch.tiny_rows import SIZES


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
