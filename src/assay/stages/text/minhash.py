"""MinHash signatures of documents in one pass over their bytes.

A document is the set of its byte 24-grams, after ASCII letters are lowered and runs of white space become one space
(Broder, "On the resemblance and containment of documents", 1997; bytes, because many scripts have no spaces). Each
gram is hashed by a rolling polynomial (Karp and Rabin, 1987) and falls into one of 256 bins, which keep their least
hash: one permutation instead of 256 (Li, Owen, Zhang, "One permutation hashing", NIPS 2012). An empty bin borrows from
a bin chosen by a hash of its number, so that equal documents stay equal and the share of equal bins stays an unbiased
estimate of the Jaccard similarity (Shrivastava, "Optimal densification for fast and accurate minwise hashing", 2017).

The compiled core does it (`native/c/minhash/`); without it, `plain_minhash` gives the same numbers, slower.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from assay.native import near_duplicates
from assay.stages.text.text_column import TextColumn

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# The numbers of `minhash` in numpy, for installations without the compiled core; about 50 times slower.

BINS = 256
WIDTH = 24
_BASE = 0x9E3779B97F4A7C15
_EMPTY, _LOW = 0xFFFFFFFF, 0xFFFFFFFE
_BIN_SHIFT = 56
_LOWERED = bytes(32 if byte in b"\t\n\r" else byte + 32 if 65 <= byte <= 90 else byte for byte in range(256))
_SPACES = re.compile(rb"  +")


def plain_signatures(texts: TextColumn) -> NDArray[np.uint32]:
    import numpy as np

    rows = np.empty((len(texts), BINS), np.uint32)
    for at, text in enumerate(texts.plain()):
        normal = _SPACES.sub(b" ", text.translate(_LOWERED)).lstrip(b" ")
        hashes = _mix(_grams(np.frombuffer(normal, np.uint8).astype(np.uint64) + np.uint64(1)))
        rows[at] = _EMPTY
        np.minimum.at(rows[at], (hashes >> np.uint64(_BIN_SHIFT)).astype(np.intp), (hashes & np.uint64(_LOW)))
        _borrow(rows[at])
    return rows


def _grams(digits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The polynomial of each gram: of 2 digits from those of 1, of 4 from those of 2, and so on to 24."""
    import numpy as np

    if len(digits) < WIDTH:
        # Shorter than one gram: the document itself is its only gram.
        whole = 0
        for digit in digits.tolist():
            whole = whole * _BASE + digit
        return np.array([(whole + len(digits)) % (1 << 64)], np.uint64)
    held = {1: digits}
    for width, longer, shorter in ((2, 1, 1), (4, 2, 2), (8, 4, 4), (16, 8, 8), (24, 16, 8)):
        count = len(digits) - width + 1
        weight = np.uint64(pow(_BASE, shorter, 1 << 64))
        held[width] = held[longer][:count] * weight + held[shorter][longer : longer + count]
    return held[WIDTH]


def _borrow(bins: NDArray[np.uint32]) -> None:
    """Each empty bin takes the number of the taken one that it tries first."""
    taken = (bins != _EMPTY).nonzero()[0]
    if len(taken) < BINS:
        empty = (bins == _EMPTY).nonzero()[0]
        bins[empty] = bins[taken[_turns()[taken][:, empty].argmin(axis=0)]]


@cache
def _turns() -> NDArray[np.uint16]:
    """[other, bin]: the turn at which an empty bin first tries another."""
    import numpy as np

    turns = np.zeros((BINS, BINS), np.uint16)
    bins = np.arange(BINS, dtype=np.uint64)
    turn = 0
    while not turns.all():
        turn += 1
        tried = _mix(((bins << np.uint64(32)) + np.uint64(turn)) * np.uint64(_BASE)) >> np.uint64(_BIN_SHIFT)
        at = (tried.astype(np.intp), bins.astype(np.intp))
        turns[at] = np.where(turns[at] == 0, turn, turns[at])
    return turns


def plain_band_keys(rows: NDArray[np.uint32], bands: int) -> NDArray[np.uint64]:
    import numpy as np

    per_band = BINS // bands
    keys = np.repeat(np.arange(1, bands + 1, dtype=np.uint64)[None, :], len(rows), axis=0)
    cut = rows.reshape(len(rows), bands, per_band)
    for at in range(per_band):
        keys = _mix(keys ^ cut[:, :, at])
    return keys


def _mix(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finaliser of splitmix64 (Steele, Lea, Flood, 2014)."""
    import numpy as np

    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        numbers = (numbers ^ (numbers >> np.uint64(shift))) * np.uint64(factor)
    return numbers ^ (numbers >> np.uint64(31))


BANDS = 32
"""Bands of 8 bins: documents of similarity 0.8 share a band with probability 0.997, of 0.5 with 0.12."""


def signatures(texts: TextColumn) -> NDArray[np.uint32]:
    """One row of 256 numbers a document."""
    rows = near_duplicates.signatures(texts.data, texts.starts, texts.ends, texts.escaped)
    return plain_signatures(texts) if rows is None else rows


def band_keys(rows: NDArray[np.uint32], bands: int = BANDS) -> NDArray[np.uint64]:
    """One key for each document and band: equal exactly where all bins of the band are (but for chance, 2^-64)."""
    keys = near_duplicates.band_keys(rows, bands)
    return plain_band_keys(rows, bands) if keys is None else keys
