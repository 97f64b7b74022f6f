from __future__ import annotations

import socket
import sys
from types import ModuleType

import pytest
from tests.pipeline.toy_stages import Numbers, Sum

from assay.errors import MissingExtra, UsageError
from assay.pipeline import Pipeline, PipelineError
from assay.pipeline.executors.ray_connection import ray_cluster


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


class SlowRay(ModuleType):
    """Runs out of time when it is started, as often as it is told."""

    def __init__(self, failures: int) -> None:
        super().__init__("ray")
        self.failures, self.starts = failures, 0

    def is_initialized(self) -> bool:
        return False

    def init(self, **_: object) -> None:
        self.starts += 1
        if self.starts <= self.failures:
            raise Exception("The current node timed out during startup.\nMore words.")

    def shutdown(self) -> None: ...


def test_a_cluster_that_starts_too_slowly_is_started_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    slow = SlowRay(failures=2)
    monkeypatch.setitem(sys.modules, "ray", slow)
    with ray_cluster() as ray:
        assert ray is slow
    assert slow.starts == 3
    monkeypatch.setitem(sys.modules, "ray", SlowRay(failures=9))
    expected = pytest.raises(PipelineError, match=r"^Ray could not be started, in 3 attempts: The current node")
    with expected, ray_cluster():
        pass
