from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from assay.errors import DataError, UsageError
from assay.pipeline import ColumnBatch, FileRange, Source, Split
from assay.stages.text.warc import Response, pages

SUFFIXES = (".warc.gz", ".warc", ".warc.zst")
RANGE = 32 << 20
PAGES = 64


_ELSEWHERE = "--url_limit N downloads the first N of a crawl, `assay data warc` makes archives to try with"


def archives_in(place: Path) -> list[Path]:
    """Archives below a folder, in the order of their paths. A file is itself, whatever its name."""
    if place.is_file():
        return [place]
    return [file for file in sorted(place.rglob("*")) if file.name.endswith(SUFFIXES) and file.is_file()]


class WarcSource(Source):
    """Pages of web archives, by byte ranges of the compressed files."""

    name = "warc_reader"
    provides = frozenset({"url", "warc_id", "charset", "body"})

    def __init__(
        self, folder: str, limit: int | None = None, largest_range: int = RANGE, names: Sequence[str] | None = None
    ) -> None:
        """`names`: only these files of the folder."""
        if limit is not None and limit < 1:
            raise UsageError(f"--url_limit: {limit} is not a number of archives")
        self.folder = folder
        self.limit = limit
        self.largest_range = largest_range
        self.names = names

    def describe(self) -> Sequence[str]:
        return ("file_partitioning", self.name)

    def splits(self) -> Sequence[Split]:
        pieces = [piece for file in self._files() for piece in self._pieces(file)]
        return [Split(index, (piece,)) for index, piece in enumerate(pieces)]

    def read(self, split: Split) -> Iterator[ColumnBatch]:
        for piece in split.ranges:
            try:
                with open(piece.path, "rb") as stream:
                    held = []
                    for page in pages(stream, piece.path, piece.start, piece.end):
                        held.append(page)
                        if len(held) == PAGES:
                            yield _batch(held)
                            held = []
                    if held:
                        yield _batch(held)
            except OSError as error:
                raise DataError(f"{piece.path}: cannot be read: {error}") from None

    def _files(self) -> list[Path]:
        folder = Path(self.folder)
        if folder.is_file():
            return [folder]
        if not folder.is_dir():
            raise DataError(f"{self.folder}: no such folder; {_ELSEWHERE}")
        files = archives_in(folder)
        if not files:
            looked = ", ".join(f"*{suffix}" for suffix in SUFFIXES)
            raise DataError(f"{self.folder}: no web archive there (looked for {looked}); {_ELSEWHERE}")
        return [file for file in files if self.names is None or file.name in self.names][: self.limit]

    def _pieces(self, file: Path) -> list[FileRange]:
        size = file.stat().st_size
        if not file.name.endswith(".gz") or size <= self.largest_range:
            return [FileRange(str(file))]
        count = -(-size // self.largest_range)
        edges: list[int | None] = [size * piece // count for piece in range(count)]
        return [FileRange(str(file), start or 0, end) for start, end in zip(edges, [*edges[1:], None], strict=True)]


def _batch(held: Sequence[Response]) -> ColumnBatch:
    names = ("url", "warc_id", "charset", "body")
    return ColumnBatch({name: [getattr(page, name) for page in held] for name in names})
