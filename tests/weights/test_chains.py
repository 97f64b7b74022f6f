"""How far a difference may be from the start of its chain."""

from __future__ import annotations

import numpy as np
import pytest

from assay.weights.element_types import ELEMENT_TYPES
from assay.weights.repository import Repository


def depths(folder, dtype, setting, steps):
    """Depths of the chain of a tensor that moves by so much from version to version."""
    rng = np.random.default_rng(0)
    repo = Repository.init(folder, {"setting": setting})
    weights, found = rng.standard_normal(1 << 16) * 0.02, []
    for step in (0.0, *steps):
        weights = weights + rng.standard_normal(weights.size) * step
        commit = repo.commit({"w": weights.astype(ELEMENT_TYPES[dtype].numpy)})
        found.append(repo.objects.record(bytes.fromhex(repo.show(commit).entries[0].digest)).depth)
    return found


@pytest.mark.parametrize(
    ("dtype", "steps", "wanted"),
    [
        # A bit or so of five or of eighteen is not worth a link; of two it is.
        ("float16", (4e-4, 2.3e-4), [0, 1, 1]),
        ("float32", (4e-4, 2.3e-4), [0, 1, 1]),
        ("bfloat16", (2e-4, 1e-4), [0, 1, 2]),
        # Two bits are, of any.
        ("float16", (4e-4, 1e-4), [0, 1, 2]),
        ("float32", (4e-4, 1e-4), [0, 1, 2]),
        ("bfloat16", (4e-4, 1e-4), [0, 1, 2]),
    ],
)
def test_a_second_link_must_save_bits_or_much_of_the_difference(tmp_path, dtype, steps, wanted):
    assert depths(tmp_path / "r", dtype, "balanced", steps) == wanted


def test_small_takes_every_link_and_fast_only_one(tmp_path):
    steps = (4e-4, 2.3e-4, 1.3e-4, 1e-4)
    assert depths(tmp_path / "small", "float16", "small", steps) == [0, 1, 2, 3, 4]
    assert max(depths(tmp_path / "fast", "float16", "fast", steps)) == 1
