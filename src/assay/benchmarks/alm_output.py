from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import Any

from assay.errors import UsageError
from assay.pipeline import Collector, Part
from assay.stages.alm.split_summary import SplitSummary, Tally
from assay.stages.alm.writers import ALMJsonlWriter

_PART = re.compile(r"part-\d{5,}\.(jsonl|parquet)")
_ASIDE = re.compile(r"\.part-\d{5,}\.(jsonl|parquet)\.aside")


class AlmOutput:
    """Where results go: nowhere (counted, with a digest), a folder of parts, or one JSONL file made of them."""

    def __init__(self, path: Path | None, form: str | None) -> None:
        self.path = path
        self.form = form or ("parquet" if path is not None and path.suffix == ".parquet" else "jsonl")
        self.one_file = path is not None and path.suffix == ".jsonl" and not path.is_dir()
        if self.one_file and self.form == "parquet":
            raise UsageError(f"--output-manifest {path}: parquet is written as a folder of parts; leave out .jsonl")
        if path is not None and not self.one_file and path.is_file():
            raise UsageError(f"--output-manifest {path}: is a file; give NAME.jsonl, or a folder for the parts")
        self._parts: list[Path] = []

    @property
    def folder(self) -> Path:
        assert self.path is not None
        return self.path.with_name(f".{self.path.name}.parts") if self.one_file else self.path

    def collector(self) -> Collector[Any, Any]:
        if self.path is None:
            return Tally()
        if self.form == "jsonl":
            return ALMJsonlWriter(self.folder)
        from assay.stages.alm.writers import ALMParquetWriter

        return ALMParquetWriter(self.folder)

    def prepare(self) -> None:
        """Removes parts of an earlier run: they would be taken for this one's."""
        if self.path is not None and self.folder.is_dir():
            for found in self.folder.iterdir():
                if _PART.fullmatch(found.name):
                    found.unlink()
                elif _ASIDE.fullmatch(found.name):
                    shutil.rmtree(found)

    def summary_of(self, output: object) -> SplitSummary:
        if isinstance(output, Part):
            self._parts.append(Path(output.path))
            output = output.summary
        assert isinstance(output, SplitSummary)
        return output

    def finish(self) -> None:
        if not self.one_file:
            return
        assert self.path is not None
        if not self._parts:
            self.path.write_bytes(b"")
            return
        # The first part becomes the file; the others are appended by the kernel, without passing through us.
        first, *others = self._parts
        with first.open("r+b") as out:
            out.seek(0, os.SEEK_END)
            for part in others:
                _append(out.fileno(), part)
        first.replace(self.path)
        shutil.rmtree(self.folder)


def _append(out: int, part: Path) -> None:
    with part.open("rb") as read:
        left = os.fstat(read.fileno()).st_size
        while left:
            left -= os.sendfile(out, read.fileno(), None, left)
