from __future__ import annotations

from typing import Any

import pytest
from tests.pipeline.ray.namespace import run_in_namespace


@pytest.fixture(scope="session")
def one_node() -> dict[str, Any]:
    """One program and one cluster for all that needs no more than a node that stays."""
    return run_in_namespace("one_node")
