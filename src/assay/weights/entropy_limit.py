"""The limit that a ratio is judged by: the smallest of three order-0 entropies of a tensor's byte planes.

Alone; of the XOR with its base; and of the ordered difference with its base, split by the base's exponent. The
difference is taken between bit patterns mapped to integers in numeric order (negative: all bits inverted, otherwise:
top bit set), modulo 2**bits, in zigzag order. Entropy after Shannon (1948); what an order-0 coder can reach without
paying for its tables, so nothing reaches 100% of it except by modelling more than single bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from assay.weights.element_types import ElementType, bits_of, element_type
from assay.weights.store import Tensor

ALLOWANCE_PER_TENSOR = 64
"""Bytes a stored tensor may cost beyond its entropy (its name, shape, place and checksum) when a store is judged."""


@dataclass(frozen=True)
class TensorLimit:
    alone: float
    xor: float | None = None
    difference: float | None = None
    """Bytes; None without a base of the same dtype and size."""

    @property
    def best(self) -> float:
        return min(value for value in (self.alone, self.xor, self.difference) if value is not None)


@dataclass(frozen=True)
class RepositoryLimit:
    logical_bytes: int
    limit_bytes: float
    stored_tensors: int
    duplicates: int

    @property
    def ratio(self) -> float:
        return self.logical_bytes / self.limit_bytes if self.limit_bytes else float("inf")

    @property
    def with_allowance(self) -> float:
        return self.limit_bytes + ALLOWANCE_PER_TENSOR * self.stored_tensors

    def share_reached(self, stored_bytes: int, allowance: bool = True) -> float:
        """The share of the limit that a store with `stored_bytes` on disk has reached; 1.0 is all of it."""
        return (self.with_allowance if allowance else self.limit_bytes) / stored_bytes


def tensor_limit(tensor: Tensor, base: Tensor | None = None) -> TensorLimit:
    kind = element_type(tensor.dtype)
    bits = bits_of(tensor)
    alone = _plane_entropies(bits)
    if base is None or base.dtype != tensor.dtype or base.size != tensor.size:
        return TensorLimit(alone)
    base_bits = bits_of(base)
    xor = _plane_entropies(bits ^ base_bits)
    return TensorLimit(alone, xor, _difference_entropy(bits, base_bits, kind))


def repository_limit(
    versions: Sequence[Mapping[str, Tensor]], parents: Sequence[int | None] | None = None
) -> RepositoryLimit:
    """The limit of a chain of versions; `parents[i]` is the version that i was made from (default: the one before).

    The base of a tensor is the one of the same name in the parent. A tensor identical to an earlier one counts 0.
    """
    seen: set[tuple[str, tuple[int, ...], bytes]] = set()
    logical = stored = duplicates = 0
    limit = 0.0
    for number, version in enumerate(versions):
        parent = parents[number] if parents is not None else (number - 1 if number else None)
        bases = {} if parent is None else versions[parent]
        for name, tensor in version.items():
            logical += tensor.nbytes
            key = (tensor.dtype.name, tensor.shape, _digest(tensor))
            if key in seen:
                duplicates += 1
                continue
            seen.add(key)
            stored += 1
            limit += tensor_limit(tensor, bases.get(name)).best
    return RepositoryLimit(logical, limit, stored, duplicates)


def _digest(tensor: Tensor) -> bytes:
    from hashlib import blake2b

    return blake2b(bits_of(tensor).view(np.uint8).data, digest_size=16).digest()


def order_bits(bits: Tensor) -> Tensor:
    """Bit patterns of floats as integers in numeric order."""
    width = bits.dtype.itemsize * 8
    top = bits.dtype.type(1 << (width - 1))
    return np.where(bits & top, ~bits, bits | top)


def zigzag_difference(bits: Tensor, base: Tensor, is_float: bool) -> Tensor:
    difference = order_bits(bits) - order_bits(base) if is_float else bits - base
    signed = difference.view(np.dtype(f"<i{bits.dtype.itemsize}"))
    return ((signed << 1) ^ (signed >> (bits.dtype.itemsize * 8 - 1))).view(bits.dtype)


def _difference_entropy(bits: Tensor, base: Tensor, kind: ElementType) -> float:
    zigzag = zigzag_difference(bits, base, kind.exponent > 0)
    if not kind.exponent:
        return _plane_entropies(zigzag)
    exponent = (base >> base.dtype.type(kind.mantissa)) & base.dtype.type((1 << kind.exponent) - 1)
    partition = exponent.astype(np.int32) << 8
    planes = zigzag.view(np.uint8).reshape(zigzag.size, zigzag.dtype.itemsize)
    total = 0.0
    for plane in range(planes.shape[1]):
        counts = np.bincount(partition | planes[:, plane], minlength=256 << kind.exponent)
        total += sum(_entropy_bytes(row) for row in counts.reshape(-1, 256) if row.any())
    return total


def _plane_entropies(bits: Tensor) -> float:
    planes = bits.view(np.uint8).reshape(bits.size, bits.dtype.itemsize)
    return sum(_entropy_bytes(np.bincount(planes[:, plane], minlength=256)) for plane in range(planes.shape[1]))


def _entropy_bytes(counts: Tensor) -> float:
    present = counts[counts > 0].astype(np.float64)
    if not present.size:
        return 0.0
    total = float(present.sum())
    return float(total * np.log2(total) - (present * np.log2(present)).sum()) / 8
