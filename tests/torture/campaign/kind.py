from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

Case = dict[str, Any]
"""What is tried, as JSON: all that is needed to try it again."""


@dataclass
class Trial:
    """What came of one case: how much was tried by name, and what happened that may not."""

    tried: Counter[str] = field(default_factory=Counter)
    found: list[str] = field(default_factory=list)


class Kind(Protocol):
    """One way to attack. `share`: parts of the time it gets; `seconds`: the longest that one case may take."""

    name: str
    share: float
    seconds: float

    def draw(self, rng: random.Random) -> Case: ...

    def attempt(self, case: Case, folder: Path) -> Trial:
        """`folder` is empty and its own; it is removed afterwards."""
        ...
