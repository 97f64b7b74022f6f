from __future__ import annotations

import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.native.digests import KEY, RangeOfDigests, digests
from assay.native.json_fields import PLAIN, int64s

PRIME = (1 << 127) - 1
GROUP = 16 * 7
KEY_A, KEY_B = bytes(range(KEY)), b"\xff" * KEY


def digest(text: bytes, key: bytes) -> bytes:
    ranges = int64s(2)
    ranges[1] = len(text)
    made, others = digests(text, ranges, memoryview(bytearray([PLAIN])), key)
    assert others == 0
    return bytes(made)


def plainly(text: bytes, key: bytes) -> bytes:
    """The polynomial of digest.h, in Python's own numbers: groups of words, at least one, then the length."""
    point, total = int.from_bytes(key, "little") % PRIME, 0
    padded = text + bytes(-len(text) % GROUP or (0 if text else GROUP))
    for at in range(0, len(padded), 7):
        total = (total * point + int.from_bytes(padded[at : at + 7], "little")) % PRIME
    return ((total * point + len(text)) % PRIME).to_bytes(16, "little")


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=400), st.binary(min_size=KEY, max_size=KEY) | st.sampled_from([KEY_A, KEY_B, bytes(KEY)]))
def test_digests_are_values_of_the_polynomial(text: bytes, key: bytes) -> None:
    assert digest(text, key) == plainly(text, key)


@pytest.mark.parametrize("size", [0, 1, 6, 7, 8, 111, 112, 113, 224, 225, 3000])
def test_every_length_and_every_byte_counts(size: int) -> None:
    key, text = os.urandom(KEY), os.urandom(size)
    assert digest(text, key) == plainly(text, key)
    changed = [text[:at] + bytes([text[at] ^ 1]) + text[at + 1 :] for at in range(0, size, max(1, size // 50))]
    others = [text + b"\0", b"\0" + text, *changed]
    assert len({digest(one, key) for one in [text, *others]}) == 1 + len(set(others))


def test_a_key_has_its_length() -> None:
    with pytest.raises(ValueError, match="16 bytes"):
        digest(b"x", b"short")


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, 12), max_size=60), st.integers(1, 5), st.integers(1, 4))
def test_repeats_are_found_in_whatever_ranges_and_parts(texts: list[int], ranges: int, parts: int) -> None:
    made = [digest(b"%d" % text, KEY_A) for text in texts]
    pairs: list[tuple[int, int]] = []
    for number in range(ranges):
        gathered = RangeOfDigests(number, ranges)
        for start in range(0, len(made), parts):
            gathered.add(bytearray(b"".join(made[start : start + parts])), start)
        found = gathered.repeats().tolist()
        assert found[1::2] == sorted(found[1::2])
        pairs += zip(found[1::2], found[::2], strict=True)
    assert dict(pairs) == {at: texts.index(text) for at, text in enumerate(texts) if texts.index(text) != at}
