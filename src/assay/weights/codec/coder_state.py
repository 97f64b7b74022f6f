"""What a state of the entropy coder is, whatever the number of lanes.

Range asymmetric numeral systems (Duda, arXiv:1311.2540): a state of 31 bits is refilled by, or spills, 16 bits at a
time. A token is coded by its frequency out of 2048; the noise below it is pushed into the state as it is, which costs
exactly its bits.
"""

from __future__ import annotations

PROBABILITY_BITS = 11
PROBABILITY_SUM = 1 << PROBABILITY_BITS
STATE_BITS = 31
LOWEST_STATE = 1 << (STATE_BITS - 16)
PUSHED_AT_ONCE = 15
"""Bits of noise between two refills."""
