from __future__ import annotations

import numpy as np
import pytest

from assay.weights.repository import Repository


@pytest.fixture
def repo(tmp_path):
    return Repository.init(tmp_path / "repo")


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def same(left, right) -> bool:
    """Equal in name, dtype, shape and every bit."""
    return left.keys() == right.keys() and all(
        left[name].dtype == right[name].dtype
        and left[name].shape == right[name].shape
        and left[name].tobytes() == right[name].tobytes()
        for name in left
    )
