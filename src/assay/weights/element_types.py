"""The element types that can be stored, as numpy knows them, and where the exponent of a float sits in its bits."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.errors import DataError, MissingExtra
from assay.weights.store import Tensor

if TYPE_CHECKING:
    from blake3 import blake3


@dataclass(frozen=True)
class ElementType:
    """`lanes` is 2 for complex numbers, which are stored as pairs of floats."""

    name: str
    bits: int
    """Bits of one lane; a complex number has two lanes."""
    mantissa: int = 0
    exponent: int = 0
    """Width of the field; 0 for integers and bool."""
    lanes: int = 1

    @property
    def itemsize(self) -> int:
        return self.bits * self.lanes // 8

    @cached_property
    def numpy(self) -> np.dtype[Any]:
        return _numpy_dtype(self.name)

    @cached_property
    def bit_view(self) -> np.dtype[Any]:
        return np.dtype(f"<u{self.bits // 8}")


_TYPES = (
    ElementType("float64", 64, 52, 11),
    ElementType("float32", 32, 23, 8),
    ElementType("float16", 16, 10, 5),
    ElementType("bfloat16", 16, 7, 8),
    ElementType("float8_e4m3fn", 8, 3, 4),
    ElementType("float8_e4m3fnuz", 8, 3, 4),
    ElementType("float8_e4m3b11fnuz", 8, 3, 4),
    ElementType("float8_e4m3", 8, 3, 4),
    ElementType("float8_e3m4", 8, 4, 3),
    ElementType("float8_e5m2", 8, 2, 5),
    ElementType("float8_e5m2fnuz", 8, 2, 5),
    ElementType("float8_e8m0fnu", 8, 0, 8),
    ElementType("complex64", 32, 23, 8, lanes=2),
    ElementType("complex128", 64, 52, 11, lanes=2),
    ElementType("bool", 8),
    *(ElementType(f"{sign}int{bits}", bits) for sign in ("", "u") for bits in (8, 16, 32, 64)),
)
ELEMENT_TYPES = {kind.name: kind for kind in _TYPES}


@cache
def element_type(dtype: np.dtype[Any]) -> ElementType:
    try:
        return ELEMENT_TYPES[dtype.name]
    except KeyError:
        raise DataError(f"dtype {dtype.name} cannot be stored; use one of {', '.join(ELEMENT_TYPES)}") from None


def bits_of(tensor: Tensor) -> Tensor:
    """The little-endian bit patterns of a tensor, flat, in C order; a view where the layout allows it."""
    kind = element_type(tensor.dtype)
    if tensor.dtype.byteorder == ">":
        tensor = tensor.astype(tensor.dtype.newbyteorder("<"))
    return np.ascontiguousarray(tensor).reshape(-1).view(kind.bit_view)


def from_bits(bits: Tensor, kind: ElementType, shape: tuple[int, ...]) -> Tensor:
    return bits.view(kind.numpy).reshape(shape)


@cache
def _numpy_dtype(name: str) -> np.dtype[Any]:
    if name.startswith(("bfloat", "float8")):
        try:
            import ml_dtypes
        except ImportError:
            raise MissingExtra(f"ml_dtypes, which {name} needs,", "weights") from None
        dtype: np.dtype[Any] = np.dtype(getattr(ml_dtypes, name))
        return dtype
    return np.dtype(name)


DIGEST_BYTES = 24
"""192 bits of BLAKE3: nobody finds two contents with the same."""


def hasher_of(kind: ElementType, shape: tuple[int, ...]) -> blake3:
    """A hasher that knows dtype and shape already; the bits of the tensor are still to be given."""
    from blake3 import blake3

    return blake3(f"{kind.name}{shape}".encode())


def content_digest(bits: Tensor, kind: ElementType, shape: tuple[int, ...]) -> bytes:
    """What a tensor is: its dtype, shape and every bit."""
    hasher = hasher_of(kind, shape)
    hasher.update(np.ascontiguousarray(bits).view(np.uint8).data)
    return bytes(hasher.digest(DIGEST_BYTES))


def bytes_digest(data: bytes) -> bytes:
    from blake3 import blake3

    return bytes(blake3(data).digest(DIGEST_BYTES))
