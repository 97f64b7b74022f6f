"""The entropy coder by itself: every width, length and kind of noise, in place, and memory for what it returns."""

from __future__ import annotations

import numpy as np
import pytest

from assay.errors import DataError
from assay.weights.codec.planes import encode_leading
from assay.weights.codec.short_stream import decode_short, encode_short
from assay.weights.codec.stream_reader import decode_stream
from assay.weights.codec.stream_writer import encode_difference, encode_fixed
from assay.weights.codec.symbols import window_of
from assay.weights.element_types import ELEMENT_TYPES, bits_of
from assay.weights.packs.chunks import SLAB, Slabs

KINDS = ("float32", "bfloat16", "float16", "float8_e4m3fn", "int8", "int16", "uint32")
SIZES = (1, 2, 63, 64, 65, 4095, 4096, 4097, 4159, 20_000)


def pair(kind, size, amount):
    """Numbers, and others as far from them as `amount` says: none, some or all of the low bits."""
    rng = np.random.default_rng(size)
    base = bits_of((rng.standard_normal(size) * 20).astype(ELEMENT_TYPES[kind].numpy))
    width = 8 * base.dtype.itemsize
    bits = base ^ rng.integers(0, 1 << min(amount, width), size, dtype=np.uint64).astype(base.dtype)
    return bits, base


@pytest.mark.parametrize("xor", [False, True])
@pytest.mark.parametrize("amount", [0, 2, 9, 16, 32])
@pytest.mark.parametrize("kind", KINDS)
def test_what_goes_in_comes_out_in_place(kind, amount, xor):
    element = ELEMENT_TYPES[kind]
    for size in SIZES:
        bits, base = pair(kind, size, amount)
        data = encode_difference(bits, base, element, window_of(base, element), xor).tobytes()
        out = base.copy()
        decode_stream(memoryview(data), out, element, xor, out)
        assert np.array_equal(out, bits), size
        apart = np.empty_like(base)
        decode_stream(memoryview(data), base, element, xor, apart)
        assert np.array_equal(apart, bits), size


@pytest.mark.parametrize("kind", ["float32", "bfloat16", "float16", "int16", "uint32"])
def test_leading_bytes(kind):
    element = ELEMENT_TYPES[kind]
    for size in SIZES:
        bits, _ = pair(kind, size, 8)
        data = encode_leading(bits, element).tobytes()
        out = np.empty_like(bits)
        decode_stream(memoryview(data), None, element, False, out)
        assert np.array_equal(out, bits), size


@pytest.mark.parametrize("kind", ["bfloat16", "float16", "int16", "uint16"])
def test_short_codes(kind):
    element = ELEMENT_TYPES[kind]
    every = np.arange(65_536, dtype=np.uint16)
    for bits in (every, every[::-1].copy(), *(pair(kind, size, 8)[0] for size in SIZES)):
        out = np.empty_like(bits)
        decode_short(memoryview(encode_short(bits, element)), element, out)
        assert np.array_equal(out, bits), bits.size


@pytest.mark.parametrize("kind", ["bfloat16", "float32"])
@pytest.mark.parametrize("often", [0.0005, 0.02, 0.5])
@pytest.mark.parametrize("size", [3_000, 50_001])
def test_residuals_too_rare_for_their_noise_are_stored_apart(size, often, kind):
    element = ELEMENT_TYPES[kind]
    _, base = pair(kind, size, 0)
    rng = np.random.default_rng(0)
    far = rng.integers(1 << 9, 1 << (8 * base.dtype.itemsize), base.size, dtype=np.uint64)
    bits = base ^ np.where(rng.random(base.size) < often, far, 0).astype(base.dtype)
    data = encode_difference(bits, base, element, window_of(base, element), xor=True).tobytes()
    assert int.from_bytes(data[12:16], "little") >= often * size / 2
    out = base.copy()
    decode_stream(memoryview(data), out, element, True, out)
    assert np.array_equal(out, bits)


@pytest.mark.parametrize(("large", "wide"), [(0.0, 0), (0.1, 0), (0.9, 1), (1.0, 1)])
def test_escapes_have_two_words_where_most_need_them(large, wide):
    """A thousandth of the elements change, most by what a word holds or most by more."""
    element, rng = ELEMENT_TYPES["float32"], np.random.default_rng(0)
    _, base = pair("float32", 60_001, 0)
    far = np.where(rng.random(base.size) < large, 1 << 30, 1 << 12) + rng.integers(0, 1 << 11, base.size)
    bits = base ^ np.where(rng.random(base.size) < 0.001, far, 0).astype(base.dtype)
    data = encode_difference(bits, base, element, window_of(base, element), xor=True).tobytes()
    assert data[5] >> 7 == wide
    out = base.copy()
    decode_stream(memoryview(data), out, element, True, out)
    assert np.array_equal(out, bits)


@pytest.mark.parametrize("far", [3, 70, 1 << 14, 1 << 31])
@pytest.mark.parametrize("kind", ["float32", "bfloat16"])
def test_what_the_sample_of_a_large_chunk_does_not_show(kind, far):
    """Only blocks of 2,048 far apart are counted: here nothing changes in them, and every change is an escape."""
    element = ELEMENT_TYPES[kind]
    _, base = pair(kind, 1 << 20, 0)
    bits = base.copy()
    bits[3_000:4_000] ^= base.dtype.type(min(far, 1 << (8 * base.dtype.itemsize - 1)))
    data = encode_difference(bits, base, element, window_of(base, element), xor=True).tobytes()
    assert int.from_bytes(data[12:16], "little") >= 1_000
    out = base.copy()
    decode_stream(memoryview(data), out, element, True, out)
    assert np.array_equal(out, bits)


@pytest.mark.parametrize(("moved", "planes"), [(1 << 5, 0), (1 << 13, 1), (1 << 24, 2)])
def test_low_bytes_that_are_noise_are_kept_as_they_are(moved, planes):
    element = ELEMENT_TYPES["float32"]
    _, base = pair("float32", 50_001, 0)
    bits = base + np.random.default_rng(0).integers(0, moved, base.size).astype(base.dtype)
    data = encode_difference(bits, base, element, window_of(base, element), xor=False).tobytes()
    assert data[5] >> 4 == planes
    out = base.copy()
    decode_stream(memoryview(data), out, element, False, out)
    assert np.array_equal(out, bits)


def difference(bits, base, element):
    return encode_difference(bits, base, element, window_of(base, element), xor=False)


def fixed(bits, base, element):
    return encode_fixed(bits, base, element, window_of(base, element), np.full(16, 9, np.uint8))


@pytest.mark.parametrize(
    ("kind", "encode", "sizes"),
    [
        ("float32", difference, (300, 5_001)),
        ("bfloat16", difference, (300, 5_001)),
        ("float8_e4m3fn", difference, (300, 5_001)),
        ("float32", fixed, (5_001,)),
        ("bfloat16", fixed, (5_001,)),
    ],
)
def test_a_stream_that_a_stranger_changed(kind, encode, sizes):
    """Whatever it says of words, lengths, escapes and planes: refused, or numbers; a shorter one is always refused."""
    element, rng = ELEMENT_TYPES[kind], np.random.default_rng(0)
    for size in sizes:
        bits, base = pair(kind, size, 12)
        data = encode(bits, base, element).tobytes()
        refused = 0
        for _ in range(300):
            changed = bytearray(data)
            for place in rng.integers(0, len(data), 2):
                changed[place] ^= int(rng.integers(1, 256))
            try:
                decode_stream(memoryview(bytes(changed)), base, element, False, base.copy())
            except DataError:
                refused += 1
        assert refused > 0
        for length in rng.integers(0, len(data), 50):
            with pytest.raises(DataError):
                decode_stream(memoryview(data[:length]), base, element, False, base.copy())


def test_any_exponents_for_a_base():
    """Zeros, denormals, infinities and all exponents in between: contexts are a window, not a list."""
    element = ELEMENT_TYPES["bfloat16"]
    base = np.arange(65_536, dtype=np.uint16)
    bits = np.roll(base, 1)
    for window_from in (base, base[:128], base[30_000:], np.zeros(10, np.uint16)):
        data = encode_difference(bits, base, element, window_of(window_from, element), xor=False).tobytes()
        out = base.copy()
        decode_stream(memoryview(data), out, element, False, out)
        assert np.array_equal(out, bits)


def test_small_tensors_share_a_slab_and_never_a_byte():
    slabs = Slabs(1 << 20)
    taken = [slabs.take(count, np.dtype(kind)) for kind in ("<u2", "<u4", "<u8", "u1") for count in (1, 7, 1000)]
    for number, room in enumerate(taken):
        assert room.flags.writeable
        assert room.ctypes.data % 16 == 0
        room[:] = number
    assert all((room == number).all() for number, room in enumerate(taken))
    assert slabs.take(0, np.dtype("<u2")).size == 0


def test_a_slab_is_bounded_and_a_large_tensor_has_memory_of_its_own():
    slabs = Slabs(1 << 40)
    small, large = slabs.take(100, np.dtype("u1")), slabs.take(SLAB, np.dtype("u1"))
    assert small.base is not None
    assert small.base.nbytes <= SLAB + (4 << 20)
    assert large.nbytes == SLAB
    assert not np.shares_memory(large, small.base)
