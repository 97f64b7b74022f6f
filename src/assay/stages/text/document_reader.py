from __future__ import annotations

from collections.abc import Iterator, Sequence

from assay.errors import UsageError
from assay.pipeline import FileRange, Source, Split
from assay.stages.text.document_files import PARQUET, document_files, read_documents
from assay.stages.text.rows import Rows


class DocumentReader(Source):
    """Documents of JSONL or Parquet files: the driver partitions the files, the workers read them, as in NeMo Curator.

    A partition is `files_per_partition` files; what comes out of it is one part file.
    """

    def __init__(self, path: str, files_per_partition: int = 1, max_files: int | None = None) -> None:
        if files_per_partition < 1:
            raise UsageError(f"--files-per-partition: {files_per_partition} is not a number of files")
        if max_files is not None and max_files < 1:
            raise UsageError(f"--max-files: {max_files} is not a number of files")
        self.path = path
        self.files_per_partition = files_per_partition
        self.max_files = max_files
        self.name = "document_reader"

    def describe(self) -> Sequence[str]:
        return ("file_partitioning", self.name)

    def splits(self) -> Sequence[Split]:
        files = document_files(self.path)[: self.max_files]
        step = self.files_per_partition
        groups = [files[start : start + step] for start in range(0, len(files), step)]
        return [Split(at, tuple(FileRange(str(file)) for file in group)) for at, group in enumerate(groups)]

    def read(self, split: Split) -> Iterator[Rows]:
        for piece in split.ranges:
            yield from read_documents(piece.path)


def format_of(path: str) -> str:
    """Format of the documents there: that of their first file."""
    return "parquet" if document_files(path)[0].name.endswith(PARQUET) else "jsonl"


def document_reader(path: str, files_per_partition: int = 1, max_files: int | None = None) -> DocumentReader:
    """A reader with the name that NeMo Curator's has, by what it reads, so that a session's records tell times
    apart."""
    reader = DocumentReader(path, files_per_partition, max_files)
    reader.name = f"{format_of(path)}_reader"
    return reader
