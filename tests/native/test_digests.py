from __future__ import annotations

import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.native.digests import KEY, RangeOfDigests, digests
from assay.native.json_fields import PLAIN, int64s

PRIME, WORD = (1 << 127) - 1, 1 << 64
KEY_A, KEY_B = bytes(number % 251 for number in range(KEY)), b"\xff" * KEY


def digest(text: bytes, key: bytes) -> bytes:
    ranges = int64s(2)
    ranges[1] = len(text)
    made, others = digests(text, ranges, memoryview(bytearray([PLAIN])), key)
    assert others == 0
    return bytes(made)


def plainly(text: bytes, key: bytes) -> bytes:
    """What digest.h says, in Python's own numbers."""
    point, value = int.from_bytes(key[:16], "little") % PRIME, 0
    secret = words(key[16:])
    for start in range(0, len(text), 1024):
        block = text[start : start + 1024]
        said = words(block + bytes(-len(block) % 16))
        for shift in (0, 2):
            pairs = zip(said[::2], said[1::2], secret[shift::2], secret[shift + 1 :: 2], strict=False)
            total = sum((a + k) % WORD * ((b + m) % WORD) for a, b, k, m in pairs) % (WORD * WORD)
            for half in (total % WORD, total // WORD):
                value = (value * point + half) % PRIME
    return ((value * point + len(text)) % PRIME).to_bytes(16, "little")


def words(content: bytes) -> list[int]:
    return [int.from_bytes(content[at : at + 8], "little") for at in range(0, len(content), 8)]


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=40), st.integers(0, 200), st.sampled_from([KEY_A, KEY_B, bytes(KEY), os.urandom(KEY)]))
def test_digests_are_what_their_description_says(text: bytes, times: int, key: bytes) -> None:
    assert digest(text * times, key) == plainly(text * times, key)


@pytest.mark.parametrize("size", [0, 1, 8, 15, 16, 17, 1023, 1024, 1025, 2048, 3000])
def test_every_length_and_every_byte_counts(size: int) -> None:
    key, text = os.urandom(KEY), os.urandom(size)
    assert digest(text, key) == plainly(text, key)
    changed = [text[:at] + bytes([text[at] ^ 1]) + text[at + 1 :] for at in range(0, size, max(1, size // 50))]
    others = [text + b"\0", b"\0" + text, *changed]
    assert len({digest(one, key) for one in [text, *others]}) == 1 + len(set(others))


def test_a_key_has_its_length() -> None:
    with pytest.raises(ValueError, match="1056 bytes"):
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
