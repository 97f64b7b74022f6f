"""When load is past the knee."""

from __future__ import annotations

from typing import Final

KNEE: Final = 2.0
"""Times the latency at the lowest rate."""
BEHIND: Final = 0.95
"""Share of the work asked for; less than it is not kept up with."""
