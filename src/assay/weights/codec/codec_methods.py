"""The numbers of the methods, apart from the code that needs compiled kernels: reading an index needs only these."""

from __future__ import annotations

from enum import IntEnum

FORMAT = 5
"""Number of the repository format. It grows when older versions could no longer read what is written."""
CHUNK_ELEMENTS = 1 << 20
"""The unit of coding, of reading and of memory. Part of the format: bases and their differences must line up."""


class Method(IntEnum):
    RAW = 0
    ZSTD = 1
    PLANES = 2
    """Alone, by byte planes, each coded if that pays."""
    SAME = 3
    """As the base."""
    DIFFERENCE = 4
    """Difference with the base of the bit patterns, tokens or a fixed number of bits given the base's exponent."""
    XOR = 5
    """XOR with the base, tokens given the base's exponent."""
    DIFFERENCE_PLANES = 6
    XOR_PLANES = 7
    """The same residuals by byte planes: for 64 bits, and where low bytes are not noise."""
    SPARSE = 8
    """Places and values of the elements that differ from the base."""
    LOSSY_INT8 = 9
    LOSSY_INT16 = 10
    """The float difference with the base, rounded to steps. What comes back is near, not the same."""
    LEADING = 11
    """Alone, the first byte of each element coded and the others as they are."""
    SHORT = 12
    """Alone, four bits for the first byte of each element of two."""


RAW, SAME = int(Method.RAW), int(Method.SAME)
KNOWN_METHODS = frozenset(int(method) for method in Method)
NEEDS_BASE = frozenset(Method) - {Method.RAW, Method.ZSTD, Method.PLANES, Method.LEADING, Method.SHORT}
