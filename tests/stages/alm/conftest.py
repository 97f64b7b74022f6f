from __future__ import annotations

import pytest

from assay.stages.alm.kernel import library


@pytest.fixture(scope="session", autouse=True)
def _kernel() -> None:
    """Set-up leaves it there; without it the product would be compared with itself."""
    assert library() is not None, "no compiled library: `make setup` builds it"
