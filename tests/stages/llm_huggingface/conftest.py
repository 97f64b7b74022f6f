from __future__ import annotations

from collections.abc import Iterator

import pytest

from assay.stages.pytorch.device import library


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """More threads than free cores wait for each other longer than the tiny model computes."""
    torch = library("torch", "llm")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
