"""The compiled loop of `minhash`; importing this file needs numba."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from assay.stages.text.minhash import BINS, WIDTH

_EMPTY = np.uint32(0xFFFFFFFF)
_BASE = np.uint64(0x9E3779B97F4A7C15)
_OLDEST = np.uint64(pow(int(_BASE), WIDTH, 1 << 64))
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_BIN_SHIFT = np.uint64(64 - BINS.bit_length() + 1)
_SPACE = np.uint8(32)
_ONE = np.uint64(1)
_LOW = np.uint64(0xFFFFFFFE)  # so that no hash is _EMPTY
_30, _27, _31 = np.uint64(30), np.uint64(27), np.uint64(31)


@njit(cache=True, inline="always")  # type: ignore[untyped-decorator]
def _mixed(x: Any) -> Any:
    x = (x ^ (x >> _30)) * _FIRST
    x = (x ^ (x >> _27)) * _SECOND
    return x ^ (x >> _31)


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def fill(data: Any, offsets: Any, out: Any) -> None:
    longest = 0
    for row in range(len(offsets) - 1):
        longest = max(longest, offsets[row + 1] - offsets[row])
    plain = np.empty(longest + 1, np.uint8)
    for row in range(len(offsets) - 1):
        bins = out[row]
        bins[:] = _EMPTY
        count = _normalised(data, offsets[row], offsets[row + 1], plain)
        rolling = np.uint64(0)
        for at in range(min(count, WIDTH)):
            rolling = rolling * _BASE + np.uint64(plain[at]) + _ONE
        if count < WIDTH:
            # Shorter than one gram: the document itself is its only gram.
            hashed = _mixed(rolling + np.uint64(count))
            bins[hashed >> _BIN_SHIFT] = np.uint32(hashed & _LOW)
        else:
            hashed = _mixed(rolling)
            bins[hashed >> _BIN_SHIFT] = np.uint32(hashed & _LOW)
            for at in range(WIDTH, count):
                oldest = _OLDEST * (np.uint64(plain[at - WIDTH]) + _ONE)
                rolling = rolling * _BASE + (np.uint64(plain[at]) + _ONE) - oldest
                hashed = _mixed(rolling)
                where = hashed >> _BIN_SHIFT
                bins[where] = min(bins[where], np.uint32(hashed & _LOW))
        _borrow(bins)


@njit(cache=True)  # type: ignore[untyped-decorator]
def _normalised(data: Any, start: int, end: int, plain: Any) -> int:
    """Without branches on what the bytes are: text is what a predictor cannot predict."""
    count = 0
    last = _SPACE
    for at in range(start, end):
        byte = data[at]
        if byte == 9 or byte == 10 or byte == 13:
            byte = _SPACE
        elif 65 <= byte <= 90:
            byte = np.uint8(byte + 32)
        plain[count] = byte
        count += not (byte == _SPACE and last == _SPACE)
        last = byte
    return count


@njit(cache=True)  # type: ignore[untyped-decorator]
def _borrow(bins: Any) -> None:
    taken = bins != _EMPTY
    for at in range(len(bins)):
        if taken[at]:
            continue
        attempt = np.uint64(at) << np.uint64(32)
        while True:
            attempt += np.uint64(1)
            other = _mixed(attempt * _BASE) >> _BIN_SHIFT
            if taken[other]:
                bins[at] = bins[other]
                break
