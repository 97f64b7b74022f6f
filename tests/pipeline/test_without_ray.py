from __future__ import annotations

import socket
import sys

import pytest
from tests.pipeline.toy_stages import Numbers, Sum

from assay.errors import MissingExtra, UsageError
from assay.pipeline import Pipeline


@pytest.mark.parametrize(
    ("executor", "absent"),
    [("ray_actors", "ray"), ("ray_data", "ray"), ("xenna", "cosmos_xenna"), ("xenna", "cosmos_xenna.pipelines.v1")],
)
def test_the_install_command_is_given(monkeypatch: pytest.MonkeyPatch, executor: str, absent: str) -> None:
    monkeypatch.setitem(sys.modules, absent, None)
    with pytest.raises(MissingExtra, match=r"pip install 'assay-bench\[ray\]'"):
        Pipeline(Numbers(), [Sum()]).run(executor)


def test_an_address_where_nobody_answers_is_named_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{bound.getsockname()[1]}"
        monkeypatch.setenv("RAY_ADDRESS", address)
        with pytest.raises(UsageError, match=f"RAY_ADDRESS={address}: no Ray cluster answers there"):
            Pipeline(Numbers(), [Sum()]).run("ray_actors")
