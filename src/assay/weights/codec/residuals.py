"""Residuals as in `tokens`, of any width, for what is coded by planes."""

from __future__ import annotations

import numpy as np

from assay.weights.store import Tensor


def residuals_of(bits: Tensor, base: Tensor, xor: bool) -> Tensor:
    if xor:
        return bits ^ base
    signed = (bits - base).view(np.dtype(f"<i{bits.dtype.itemsize}"))
    return ((signed << 1) ^ (signed >> (bits.dtype.itemsize * 8 - 1))).view(bits.dtype)


def undo_residuals(out: Tensor, base: Tensor, xor: bool) -> None:
    """Turns residuals in `out` into bit patterns, in place."""
    if not xor:
        one = out.dtype.type(1)
        out[:] = base + ((out >> one) ^ (out.dtype.type(0) - (out & one)))
    else:
        out ^= base
