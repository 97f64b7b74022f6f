"""A short run of the campaign: a little of every kind, always the same."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest
from campaign.kinds import KINDS
from campaign.worker import tried

FUZZ_S = 0.5
"""Seconds for kinds whose cases take less than that; the others try one."""


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_a_little_of_every_kind(tmp_path: Path, name: str) -> None:
    rng, until = random.Random(19), time.monotonic() + FUZZ_S
    while True:
        case = KINDS[name].draw(rng) | SMALL.get(name, {})
        assert tried(KINDS[name], case, tmp_path).found == [], case
        if time.monotonic() > until:
            return


SMALL = {
    "kills": {"hits": 3, "suite": False},
    "disks": {"hits": 2},
    "writers": {"how": "jobs"},
    "pushes": {"to": "bucket", "pushes": 1},
    "answers": {"sink": "otlp"},
}
"""What makes a case of a kind cheap."""
