from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.bucket_server import bucket_server
from tests.weights.two_writers import hammer


@pytest.fixture(params=["folder", "bucket"])
def url(request, tmp_path):
    if request.param == "folder":
        yield str(tmp_path / "remote")
        return
    with bucket_server() as server:
        yield f"bucket://127.0.0.1:{server.server_port}/models"


@pytest.mark.slow
def test_what_three_writers_were_told_is_there_while_two_collect(url, tmp_path: Path):
    outcome = hammer(url, tmp_path, writers=3, pushes=3)
    assert outcome.failures == ()
    assert len(outcome.acknowledged) == 9
    assert outcome.lost == set()
    assert outcome.collections > 0
