"""Signatures at every level of the compiled core and in numpy: all the same, and the same as when numba made them."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.native import near_duplicates
from assay.native.library import LEVELS, library
from assay.stages.text.minhash import BANDS, plain_band_keys, plain_signatures
from assay.stages.text.text_column import TextColumn

GOLDEN = {
    "short": "b96f22be9af31712",
    "white space": "0857933924e6a464",
    "letters": "56e5ffb5bddbdc15",
    "scripts": "a6134b1817d29a0d",
    "any bytes": "56c60a7ce9c37394",
    "long": "bdbad9ce19329477",
}
"""Digests of signatures that the numba kernel gave, before it was replaced."""


def texts(kind: str) -> list[bytes]:
    rng = Random(kind)
    if kind == "short":
        return [bytes(rng.choices(b"abcXYZ ,.", k=size)) for size in range(120)]
    if kind == "white space":
        drawn = (rng.choices([b" ", b"\n", b"\t", b"\r", b"a", b"B", b"   ", b"cd"], k=n) for n in range(0, 300, 3))
        return [b"".join(pieces) for pieces in drawn] + [b" " * n + b"end" for n in range(140)]
    if kind == "letters":
        return [bytes(rng.choices(range(60, 128), k=rng.randrange(2000))) for _ in range(60)]
    if kind == "scripts":
        drawn = (rng.choices("aé ßЖ字ひ😀\n", k=rng.randrange(800)) for _ in range(60))
        return ["".join(pieces).encode() for pieces in drawn]
    if kind == "any bytes":
        return [rng.randbytes(rng.randrange(900)) for _ in range(60)]
    return [rng.randbytes(200_000), b"The same words again. " * 5_000]


def at_level(level: int, column: TextColumn) -> np.ndarray:
    loaded = library()
    assert loaded is not None
    reached = loaded.assay_limit_level(level)
    try:
        if reached != level:
            pytest.fail(f"this processor has no {LEVELS[level]}")
        made = near_duplicates.signatures(column.data, column.starts, column.ends, column.escaped)
    finally:
        loaded.assay_limit_level(len(LEVELS) - 1)
    assert made is not None
    return made


def highest() -> int:
    loaded = library()
    assert loaded is not None
    return int(loaded.assay_limit_level(len(LEVELS) - 1))


@pytest.mark.parametrize("kind", GOLDEN)
def test_signatures_are_those_of_the_numba_kernel(kind: str) -> None:
    column = TextColumn.packed(texts(kind))
    plain = plain_signatures(column)
    assert hashlib.sha256(plain.tobytes()).hexdigest()[:16] == GOLDEN[kind]
    for level in range(highest() + 1):
        assert (at_level(level, column) == plain).all(), LEVELS[level]
    keys = near_duplicates.band_keys(plain, BANDS)
    assert keys is not None
    assert (keys == plain_band_keys(plain, BANDS)).all()


@settings(max_examples=150, deadline=None)
@given(st.lists(st.text(max_size=400), max_size=6))
def test_text_inside_json_has_the_signature_of_the_text(drawn: list[str]) -> None:
    drawn = [text.encode("utf-8", "ignore").decode() for text in drawn]
    plain = TextColumn.packed([text.encode() for text in drawn])
    for ascii_only in (True, False):
        inside = TextColumn.packed([json.dumps(text, ensure_ascii=ascii_only)[1:-1].encode() for text in drawn])
        escaped = TextColumn(inside.data, inside.starts, inside.ends, np.ones(len(drawn), np.uint8))
        for level in range(highest() + 1):
            assert (at_level(level, escaped) == plain_signatures(plain)).all()


def test_ranges_outside_of_the_block_are_refused() -> None:
    data = np.zeros(10, np.uint8)
    for start, end in ((-1, 3), (0, 11), (5, 4)):
        with pytest.raises(ValueError, match="outside"):
            near_duplicates.signatures(data, np.array([start]), np.array([end]), None)


def test_without_the_library_the_numbers_are_the_same() -> None:
    code = (
        "import hashlib; from assay.stages.text.minhash import signatures, band_keys; "
        "from assay.stages.text.text_column import TextColumn; "
        "rows = signatures(TextColumn.packed([b'one text', b'another  Text of some length, longer than a gram'])); "
        "print(hashlib.sha256(rows.tobytes() + band_keys(rows).tobytes()).hexdigest())"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "ASSAY_NATIVE": native},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for native in ("none", "scalar", "avx512")
    }
    assert len(said) == 1
