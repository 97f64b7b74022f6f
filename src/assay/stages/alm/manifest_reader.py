from __future__ import annotations

from collections.abc import Iterator, Sequence

from assay.errors import DataError, UsageError
from assay.pipeline import FileRange, Source, Split
from assay.pipeline.compressed_file import is_compressed
from assay.stages.alm.line_blocks import line_blocks
from assay.stages.alm.lines import Lines
from assay.stages.alm.manifest_file import file_size, manifest_files, open_manifest

SPLITS = 64
SMALLEST, LARGEST = 2**18, 2**24


class ManifestReader(Source):
    """Recordings of audio manifests: the driver partitions the files, the workers read them, as in NeMo Curator."""

    name = "alm_manifest_reader"
    provides = frozenset({"audio_filepath", "audio_sample_rate", "segments"})

    def __init__(self, paths: str | Sequence[str], on_bad_line: str = "fail") -> None:
        if on_bad_line not in ("fail", "skip"):
            raise UsageError(f"--on-bad-line: {on_bad_line!r} is neither fail nor skip")
        self.paths = [paths] if isinstance(paths, str) else list(paths)
        self.skip = on_bad_line == "skip"

    def describe(self) -> Sequence[str]:
        return ("file_partitioning", self.name)

    def splits(self) -> Sequence[Split]:
        sizes = [(path, file_size(path)) for path in manifest_files(self.paths)]
        for path, size in sizes:
            if size == 0 and not self.skip:
                raise DataError(f"{path}:1: segments: the file is empty, it holds no recording")
        target = split_bytes(sum(size for _, size in sizes))
        pieces = [piece for path, size in sizes for piece in _pieces(path, size, target)]
        return [Split(index, (piece,)) for index, piece in enumerate(pieces)]

    def read(self, split: Split) -> Iterator[Lines]:
        for piece in split.ranges:
            try:
                with open_manifest(piece.path) as manifest:
                    yield from line_blocks(manifest, piece)
            except (OSError, EOFError) as error:
                raise DataError(f"{piece.path}: cannot be read: {error}") from None


def split_bytes(total: int) -> int:
    """About a 64th of the data, 256 KB to 16 MB: enough splits to share out, few enough to be cheap."""
    return min(max(total // SPLITS, SMALLEST), LARGEST)


def _pieces(path: str, size: int, target: int) -> list[FileRange]:
    if is_compressed(path) or size <= target:
        return [FileRange(path)]
    count = -(-size // target)
    edges: list[int | None] = [size * piece // count for piece in range(count)]
    return [FileRange(path, start or 0, end) for start, end in zip(edges, [*edges[1:], None], strict=True)]
