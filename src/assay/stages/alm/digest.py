"""A 64-bit digest over every field of a curated recording: equal digests, equal output.

Text is hashed in its normal form by 128-bit multiply-and-fold (as in wyhash, Wang Yi 2019), numbers by their bits,
and lists of segments by a polynomial of their segments' hashes (Rabin–Karp), so that a compiled pass can take the
hash of any run of segments from prefix sums. This file is the definition; `native/c/alm/digest.h` is the fast one.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import Any

from assay.stages.alm.recording import normal_form

MASK = 2**64 - 1
KEY_A, KEY_B = 0xA0761D6478BD642F, 0xE7037ED1A0B428DB
BASE = 0x9E3779B97F4A7C15
COMPUTED = (
    "windows", "stats", "truncation_events", "total_dur_window", "total_dur_list_window",
    "total_dur_list_window_timestamps", "filtered", "filtered_windows", "filtered_dur", "filtered_dur_list",
    "manifest_filepath", "swift_filepath",
)  # fmt: skip
_ABSENT = object()


def record_digest(record: dict[str, Any]) -> int:
    passed = {key: value for key, value in record.items() if key not in COMPUTED}
    hashes = [_text(passed)]
    for name in COMPUTED:
        value = record.get(name, _ABSENT)
        try:
            hashes.append(_FIELDS[name](value))
        except (TypeError, KeyError, AttributeError):
            # A key of the input's own that has the name of a computed one, and another shape.
            hashes.append(_text(None if value is _ABSENT else value))
    return fold(hashes)


def combine(left: int, right: int, right_count: int) -> int:
    """The digest of two lists of records, one after the other."""
    return (left * pow(BASE, right_count, 2**64) + right) & MASK


def bytes_hash(data: bytes) -> int:
    state = KEY_A ^ len(data)
    for at in range(0, len(data), 16):
        low, high = struct.unpack("<QQ", data[at : at + 16].ljust(16, b"\0"))
        state = _multiply(low ^ KEY_B, high ^ state)
    return _multiply(state, KEY_A)


def fold(hashes: Iterable[int]) -> int:
    state = KEY_B
    for item in hashes:
        state = _multiply_low(state ^ item)
    return state


def number_hash(value: float) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(value)
    if isinstance(value, int):
        return _multiply_low((value & MASK) ^ KEY_A)
    bits: int = struct.unpack("<Q", struct.pack("<d", value))[0]
    return _multiply_low(bits ^ KEY_B)


def segments_hash(segments: list[Any]) -> int:
    state = 0
    for segment in segments:
        state = (state * BASE + _text(segment)) & MASK
    return _multiply_low(state ^ len(segments))


def _multiply(a: int, b: int) -> int:
    product = a * b
    return (product & MASK) ^ (product >> 64)


def _multiply_low(value: int) -> int:
    value = (value * BASE) & MASK
    return value ^ (value >> 29)


def _text(value: Any) -> int:
    return bytes_hash(normal_form(value).encode())


def _numbers(values: list[Any]) -> int:
    return fold([number_hash(value) for value in values])


def _spans(values: list[Any]) -> int:
    return fold([number_hash(value) for span in values for value in span])


def _windows(windows: list[Any]) -> int:
    return fold([item for window in windows for item in _window(window)])


def _window(window: dict[str, Any]) -> tuple[int, int]:
    return segments_hash(window["segments"]), _numbers(window["speaker_durations"])


def _hash_lost(windows: list[Any]) -> int:
    return fold(
        item
        for lost in windows
        for item in (
            lost["index"],
            segments_hash(lost["window_segs"]),
            _text(lost["next_seg"]),
            _text(lost["prev_seg"]),
        )
    )


def _stats(stats: dict[str, Any]) -> int:
    hashes = {"swift_path": _text, "audio_sample_rate": _text, "lost_win_full_data": _hash_lost}
    return fold([hashes.get(key, number_hash)(value) for key, value in stats.items()])


_FIELDS: dict[str, Any] = {
    "windows": _windows,
    "stats": _stats,
    "truncation_events": number_hash,
    "total_dur_window": number_hash,
    "total_dur_list_window": _numbers,
    "total_dur_list_window_timestamps": _spans,
    "filtered": _spans,
    "filtered_windows": _windows,
    "filtered_dur": number_hash,
    "filtered_dur_list": _numbers,
    "manifest_filepath": _text,
    "swift_filepath": _text,
}
