"""Sketches: a tensor's values at a few fixed places, and 64 bits that are close when the values point the same way.

The bits are signs of random projections (Charikar, "Similarity estimation techniques from rounding algorithms", 2002):
two tensors at angle a differ in each with probability a / pi. Eight bytes a tensor, whatever its size.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from assay.weights.codec.codec_methods import CHUNK_ELEMENTS
from assay.weights.dtype import ElementType
from assay.weights.store import Tensor

COORDINATES = 256
SIGNATURE_BITS = 64
FEWEST_ELEMENTS = 64
"""Elements below which a tensor gets no sketch: a base for so small a one is not worth a search."""


def sketch_of(first_chunk: Tensor, kind: ElementType) -> Tensor:
    """Values at 256 places of the first chunk, centred and of length 1; 0 where there is nothing to compare."""
    with np.errstate(over="ignore", invalid="ignore"):
        values = first_chunk[_places(first_chunk.size)].view(_lane_dtype(kind)).astype(np.float64)
        values = np.nan_to_num(values, nan=0.0, posinf=0.0, neginf=0.0)
        values = values - values.mean()
        length = float(np.linalg.norm(values))
    return values / length if 0 < length < math.inf else np.zeros(COORDINATES)


def signature_of(sketch: Tensor) -> int:
    """The 64 bits of a sketch; 0 for a tensor that has no sketch."""
    if not sketch.any():
        return 0
    signs = _planes() @ sketch > 0
    return int(np.packbits(signs).view(">u8")[0]) or 1


def similarity(signature: int, other: int) -> float:
    """An estimate of the cosine of the angle between two sketches."""
    return math.cos(math.pi * (signature ^ other).bit_count() / SIGNATURE_BITS)


def _lane_dtype(kind: ElementType) -> np.dtype[np.generic]:
    if kind.lanes == 2:
        return np.dtype(f"float{kind.bits}")
    return kind.numpy


@lru_cache(maxsize=256)
def _places(elements: int) -> Tensor:
    return np.random.default_rng(elements).integers(0, min(elements, CHUNK_ELEMENTS), COORDINATES)


@lru_cache(maxsize=1)
def _planes() -> Tensor:
    return np.random.default_rng(SIGNATURE_BITS).standard_normal((SIGNATURE_BITS, COORDINATES))
