from __future__ import annotations

import pytest

from assay.stages.alm.kernel import build


@pytest.fixture(scope="session", autouse=True)
def _kernel() -> None:
    """Set-up leaves it there; without it the product would be compared with itself."""
    assert build.find() or build.build(), "no C compiler: the compiled pass cannot be tested"
