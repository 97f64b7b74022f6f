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

from typing import TYPE_CHECKING

from assay.native import minhash as compiled
from assay.stages.text import plain_minhash
from assay.stages.text.text_column import TextColumn

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BANDS = 32
"""Bands of 8 bins: documents of similarity 0.8 share a band with probability 0.997, of 0.5 with 0.12."""


def signatures(texts: TextColumn) -> NDArray[np.uint32]:
    """One row of 256 numbers a document."""
    rows = compiled.signatures(texts.data, texts.starts, texts.ends, texts.escaped)
    return plain_minhash.signatures(texts) if rows is None else rows


def band_keys(rows: NDArray[np.uint32], bands: int = BANDS) -> NDArray[np.uint64]:
    """One key for each document and band: equal exactly where all bins of the band are (but for chance, 2^-64)."""
    keys = compiled.band_keys(rows, bands)
    return plain_minhash.band_keys(rows, bands) if keys is None else keys
