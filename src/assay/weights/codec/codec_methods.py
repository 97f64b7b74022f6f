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
    """No base: byte planes, each coded if that pays."""
    SAME = 3
    """The same bits as the base; nothing is stored."""
    DIFFERENCE = 4
    """Difference with the base of the bit patterns, tokens or a fixed number of bits given the base's exponent."""
    XOR = 5
    """XOR with the base, tokens given the base's exponent."""
    DIFFERENCE_PLANES = 6
    XOR_PLANES = 7
    """XOR with the base by byte planes: for elements of 64 bits, and where low bytes are not noise."""
    SPARSE = 8
    """Places and values of the elements that differ from the base."""
    LOSSY_INT8 = 9
    LOSSY_INT16 = 10
    """The float difference with the base, rounded to steps. What comes back is near, not the same."""
    LEADING = 11
    """No base: the first byte of each element is coded, the others are kept as they are."""
    SHORT = 12
    """No base: four bits for the first byte of each element; elements have two bytes."""


RAW, SAME = int(Method.RAW), int(Method.SAME)
KNOWN_METHODS = frozenset(int(method) for method in Method)
NEEDS_BASE = frozenset(Method) - {Method.RAW, Method.ZSTD, Method.PLANES, Method.LEADING, Method.SHORT}
