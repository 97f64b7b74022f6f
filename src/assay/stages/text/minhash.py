"""MinHash signatures of documents in one pass over their bytes.

A document is the set of its byte 24-grams, after ASCII letters are lowered and runs of white space become one space
(Broder, "On the resemblance and containment of documents", 1997; bytes, because many scripts have no spaces). Each
gram is hashed by a rolling polynomial (Karp and Rabin, 1987) and falls into one of 256 bins, which keep their least
hash: one permutation instead of 256 (Li, Owen, Zhang, "One permutation hashing", NIPS 2012). An empty bin borrows from
a bin chosen by a hash of its number, so that equal documents stay equal and the share of equal bins stays an unbiased
estimate of the Jaccard similarity (Shrivastava, "Optimal densification for fast and accurate minwise hashing", 2017).
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from assay.errors import MissingExtra

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BINS = 256
WIDTH = 24


def signatures(data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> NDArray[np.uint32]:
    """One row of BINS numbers a document; document i is data[offsets[i]:offsets[i + 1]]."""
    import numpy as np

    out = np.empty((len(offsets) - 1, BINS), np.uint32)
    _kernel()(data, offsets, out)
    return out


def band_keys(rows: NDArray[np.uint32], bands: int) -> NDArray[np.uint64]:
    """One key for each document and band: equal exactly where all bins of the band are (but for chance, 2^-64)."""
    import numpy as np

    per_band = BINS // bands
    keys = np.repeat(np.arange(1, bands + 1, dtype=np.uint64)[None, :], len(rows), axis=0)
    cut = rows.reshape(len(rows), bands, per_band)
    for at in range(per_band):
        keys ^= cut[:, :, at]
        _mix(keys)
    return keys


def _mix(keys: NDArray[np.uint64]) -> None:
    """The finaliser of splitmix64 (Steele, Lea, Flood, 2014), in place."""
    import numpy as np

    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        keys ^= keys >> np.uint64(shift)
        keys *= np.uint64(factor)
    keys ^= keys >> np.uint64(31)


@cache
def _kernel() -> Any:
    try:
        import numba
    except ImportError:
        raise MissingExtra("numba", "text") from None
    del numba
    from assay.stages.text.minhash_kernel import fill

    return fill


def compile_kernel() -> None:
    """Into its cache, so that no measured run does."""
    import numpy as np

    signatures(np.zeros(1, np.uint8), np.zeros(2, np.int64))


if __name__ == "__main__":
    compile_kernel()
