"""Files that may be compressed, told by the end of their name: `.gz` and `.zst`."""

from __future__ import annotations

from typing import IO, Any, cast

from assay.errors import MissingExtra

ENDINGS = (".gz", ".zst")


def is_compressed(path: str) -> bool:
    return path.endswith(ENDINGS)


def decompress(raw: Any, path: str) -> IO[bytes]:
    """The content of an open file of this name. Closing it closes `raw`."""
    if path.endswith(".gz"):
        import gzip

        return cast(IO[bytes], gzip.GzipFile(fileobj=raw))
    if path.endswith(".zst"):
        try:
            import zstandard
        except ImportError:
            raise MissingExtra("zstandard", "pipeline") from None
        return cast(IO[bytes], zstandard.ZstdDecompressor().stream_reader(raw, read_across_frames=True))
    return cast(IO[bytes], raw)
