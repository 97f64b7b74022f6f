"""What a state of the entropy coder is, whatever the number of lanes.

Range asymmetric numeral systems (Duda, arXiv:1311.2540): a state of 32 bits is refilled by, or spills, 16 bits at a
time. A token is coded by its frequency out of 2048; the noise below it is pushed into the state as it is, which costs
exactly its bits.
"""

from __future__ import annotations

PROBABILITY_BITS = 11
PROBABILITY_SUM = 1 << PROBABILITY_BITS
LOWEST_STATE = 1 << 16
RECIPROCAL_SHIFT = 32 + PROBABILITY_BITS
PUSHED_AT_ONCE = 16
"""Bits of noise between two refills."""
