"""What a state of the entropy coder is, whatever the number of lanes.

Range asymmetric numeral systems (Duda, arXiv:1311.2540): a state of 31 bits is refilled by, or spills, 16 bits at a
time. A token is coded by its frequency out of 1024; the noise below it goes into the state as it is in the same step,
which costs exactly its bits.
"""

from __future__ import annotations

from numba import njit

PROBABILITY_BITS = 10
PROBABILITY_SUM = 1 << PROBABILITY_BITS
STATE_BITS = 31
LOWEST_STATE = 1 << (STATE_BITS - 16)
TOKENS, NOISE, LEADING, FIXED = range(4)
"""What a stream consists of: tokens alone; tokens and noise; the leading bytes of elements whose other bytes are kept
apart; or noise alone, of as many bits as its context has."""
MOST_FIXED = STATE_BITS - 16
"""Most bits of a residual of fixed length: as many as a state holds at any time."""
LANES, MORE_LANES = 64, 128
"""States that take turns. While one step waits, others go on: more states are faster until registers run out."""
_EXACT = STATE_BITS - 16 - PROBABILITY_BITS


@njit(inline="always")
def lanes_of(content):  # type: ignore[no-untyped-def]
    return LANES if content in (NOISE, FIXED) else MORE_LANES


@njit(inline="always")
def step_of(length):  # type: ignore[no-untyped-def]
    """The number that the frequency of a token with so many bits of noise must be a multiple of.

    A step is decoded as it was encoded if LOWEST_STATE times the probability of what it codes is a whole number.
    """
    return 1 << max(0, length - _EXACT)
