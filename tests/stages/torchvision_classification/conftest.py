from __future__ import annotations

from collections.abc import Iterator

import pytest

from assay.stages.pytorch.device import library


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """torch's threads wait for each other without sleeping: beside other tests on few cores, most of the time."""
    torch = library("torch", "vision")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
