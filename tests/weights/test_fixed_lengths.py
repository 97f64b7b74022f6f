"""Differences at a fixed number of bits a context: exact for whatever fits and whatever does not, and only where the
bit that they lose is little."""

from __future__ import annotations

import numpy as np
import pytest

from assay.errors import DataError
from assay.weights.codec.chunk import decode_chunk, encode_chunk
from assay.weights.codec.codec_methods import Method
from assay.weights.codec.stream_reader import decode_stream
from assay.weights.codec.stream_writer import choose_lengths, encode_fixed
from assay.weights.codec.symbols import window_of
from assay.weights.codec.vector_operations import FIXED, NOISE
from assay.weights.element_types import ELEMENT_TYPES, bits_of

KINDS = ("float32", "bfloat16", "float16", "int16", "uint32")
SIZES = (4096, 4097, 4159, 20_000, 100_001)
HEADER, STATES = 16, 4 * 64


def moved(kind, size, far):
    """Numbers, and others up to so many steps from them."""
    rng = np.random.default_rng(size)
    base = bits_of((rng.standard_normal(size) * 20).astype(ELEMENT_TYPES[kind].numpy))
    return base + rng.integers(0, far, size, dtype=np.uint64).astype(base.dtype), base


def fixed(bits, base, element):
    """Whether or not that is worth it: a length that hardly anything fits does too."""
    window = window_of(base, element)
    lengths = choose_lengths(bits, base, element, window)
    return encode_fixed(bits, base, element, window, np.full(16, 3, np.uint8) if lengths is None else lengths).tobytes()


@pytest.mark.parametrize("far", [1, 4, 1 << 9, 1 << 16, 1 << 32])
@pytest.mark.parametrize("kind", KINDS)
def test_what_goes_in_comes_out_in_place(kind, far):
    element = ELEMENT_TYPES[kind]
    for size in SIZES:
        bits, base = moved(kind, size, far)
        data = fixed(bits, base, element)
        assert data[5] & 15 == FIXED
        out, apart = base.copy(), np.empty_like(base)
        decode_stream(memoryview(data), out, element, False, out)
        decode_stream(memoryview(data), base, element, False, apart)
        assert np.array_equal(out, bits), size
        assert np.array_equal(apart, bits), size


@pytest.mark.parametrize("kind", ["bfloat16", "float16"])
def test_every_pattern_over_every_base(kind):
    """Each of the 65,536 patterns as the element and as the base: NaN, infinities, denormals and both zeros too."""
    element = ELEMENT_TYPES[kind]
    base = np.arange(65_536, dtype=np.uint16)
    for by in (0, 1, 40, 32_768, 65_535):
        bits = np.roll(base, by)
        out = base.copy()
        decode_stream(memoryview(fixed(bits, base, element)), out, element, False, out)
        assert np.array_equal(out, bits), by


def test_what_the_sample_does_not_show():
    """Elements between the runs that are looked at change by far more than the lengths have room for."""
    element = ELEMENT_TYPES["float16"]
    bits, base = moved("float16", 1 << 20, 200)
    bits[2_000:30_000] ^= np.uint16(0x7FFF)
    out = base.copy()
    decode_stream(memoryview(fixed(bits, base, element)), out, element, False, out)
    assert np.array_equal(out, bits)


@pytest.mark.parametrize(("kind", "far", "content"), [("float16", 1 << 11, FIXED), ("float16", 1 << 3, NOISE)])
def test_the_fast_setting_takes_it_for_wide_differences(kind, far, content):
    element = ELEMENT_TYPES[kind]
    bits, base = moved(kind, 100_000, far)
    quick = encode_chunk(Method.DIFFERENCE, bits, base, element, quick=True)
    data = bytes(quick.data)
    assert data[5] & 15 == content
    out = np.empty_like(bits)
    decode_chunk(quick.method, memoryview(data), base, element, out)
    assert np.array_equal(out, bits)
    coded = encode_chunk(Method.DIFFERENCE, bits, base, element)
    assert bytes(coded.data)[5] & 15 == NOISE
    assert len(data) - len(coded.data) < 1.5 * bits.size / 8


@pytest.mark.parametrize(
    ("kind", "size", "far", "fixed"),
    [
        ("float16", 4095, 1 << 12, False),
        ("float16", 4096, 1 << 12, True),
        ("float16", 9000, 1 << 4, False),
        ("float32", 9000, 1 << 16, False),
        ("float32", 9000, 1 << 20, True),
        ("int8", 9000, 1 << 7, False),
    ],
)
def test_small_chunks_and_narrow_differences_are_coded(kind, size, far, fixed):
    element = ELEMENT_TYPES[kind]
    bits, base = moved(kind, size, far)
    assert (choose_lengths(bits, base, element, window_of(base, element)) is not None) == fixed


def test_few_large_changes_of_wide_elements_are_coded():
    """Two low bytes an element would be more than all of the change."""
    element, rng = ELEMENT_TYPES["float32"], np.random.default_rng(0)
    bits, base = moved("float32", 100_000, 1 << 24)
    bits = np.where(rng.random(base.size) < 0.2, bits, base)
    data = bytes(encode_chunk(Method.DIFFERENCE, bits, base, element, quick=True).data)
    assert data[5] & 15 == NOISE
    assert len(data) < bits.nbytes / 3


def test_lengths_that_cannot_be_and_residuals_that_are_no_differences():
    element = ELEMENT_TYPES["bfloat16"]
    bits, base = moved("bfloat16", 5_000, 1 << 9)
    data = fixed(bits, base, element)
    too_long = bytearray(data)
    too_long[HEADER + STATES] = 16
    with pytest.raises(DataError, match="a length is none"):
        decode_stream(memoryview(bytes(too_long)), base, element, False, base.copy())
    with pytest.raises(DataError, match="does not fit"):
        decode_stream(memoryview(data), base, element, True, base.copy())
