from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.stages.pytorch.device import library
from assay.stages.pytorch.tiny_model import write_tiny_model


@pytest.fixture(autouse=True, scope="package")
def one_thread() -> Iterator[None]:
    """The tiny model is too small to share out: threads would only wait for each other."""
    torch = library("torch", "llm")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="package")
def model_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files of a tiny model that is not the one by default."""
    folder = tmp_path_factory.mktemp("model")
    write_tiny_model(folder, seed=3)
    return folder
