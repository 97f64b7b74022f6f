from __future__ import annotations

from assay.weights.codec.codec_methods import Method
from assay.weights.repository import Repository

CONTENTS = ("tokens", "noise", "leading", "fixed")
STREAMS = (Method.DIFFERENCE, Method.XOR, Method.LEADING)
FEWEST_FOR_LANES = 4096
FIVE = frozenset(
    (method, kind)
    for method, kinds in {
        "DIFFERENCE": (
            "tokens 8 lane", "tokens 8 lanes", "noise 16 lane", "noise 16 lanes", "noise 32 lane", "noise 32 lanes",
            "noise 32 lanes wide", "noise 32 lane 2 planes", "noise 32 lanes 1 planes", "noise 32 lanes 2 planes",
            "fixed 16 lanes", "fixed 32 lanes 2 planes",
        ),
        "XOR": (
            "tokens 8 lane", "tokens 8 lanes", "noise 16 lane", "noise 16 lanes", "noise 32 lane",
            "noise 32 lane 1 planes",
            "noise 32 lane 2 planes", "noise 32 lanes 1 planes", "noise 32 lanes wide",
        ),
        "LEADING": (
            "leading 16 lane 1 planes", "leading 16 lanes 1 planes", "leading 32 lane 3 planes",
            "leading 32 lanes 3 planes",
        ),
        **{method.name: ("",) for method in Method if method not in STREAMS},
    }.items()
    for kind in kinds
)  # fmt: skip
"""All kinds of chunks that format 5 has: the method, and for a stream what it consists of (see codec/coder_state.py),
bits of an element, one lane or many, planes of low bytes, whether its escapes are wide."""


def kinds_of(repository: Repository) -> set[tuple[str, str]]:
    repository.objects.refresh()
    return {
        (
            Method(chunk.method).name,
            _stream(repository, record.digest, number, record.chunk_elements(number), record.kind.bits),
        )
        for record in repository.objects.records()
        for number, chunk in enumerate(record.chunks)
    }


def _stream(repository: Repository, digest: bytes, number: int, elements: int, bits: int) -> str:
    """Kind of a stream, from its header; see codec/streams/stream_writer.py."""
    if repository.objects.record(digest).chunks[number].method not in STREAMS:
        return ""
    kept = repository.objects.read_stored_chunk(digest, number)[5]
    words = [CONTENTS[kept & 15], str(bits), "lane" if elements < FEWEST_FOR_LANES else "lanes"]
    planes = kept >> 4 & 7
    return " ".join(words + [f"{planes} planes"] * (planes > 0) + ["wide"] * (kept >> 7))
