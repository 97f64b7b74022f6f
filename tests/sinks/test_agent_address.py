from __future__ import annotations

import pytest

from assay.errors import UsageError
from assay.sinks.monitoring.agents import AgentAddress
from assay.sinks.monitoring.metrics_collector import MetricsCollector


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("127.0.0.1:9125", AgentAddress("127.0.0.1", 9125)),
        ("agent", AgentAddress("agent", 8125)),
        (":9125", AgentAddress("127.0.0.1", 9125)),
        ("udp://agent:9125", AgentAddress("agent", 9125)),
        ("statsd://agent", AgentAddress("agent", 8125)),
        ("http://localhost:8125", AgentAddress("localhost", 8125)),
        ("http://agent/", AgentAddress("agent", 8125)),
        ("[::1]:9125", AgentAddress("::1", 9125)),
        ("unix:///var/run/datadog/dsd.socket", AgentAddress(socket_path="/var/run/datadog/dsd.socket")),
        ("/var/run/dsd.socket", AgentAddress(socket_path="/var/run/dsd.socket")),
    ],
)
def test_what_names_an_agent(written: str, meant: AgentAddress) -> None:
    assert AgentAddress.parse(written) == meant


@pytest.mark.parametrize(
    "written",
    ["https://127.0.0.1", "http://127.0.0.1/v2/series", "http://api.example.org", "agent:many", "agent:99999"],
)
def test_what_does_not_is_answered_with_what_does(written: str) -> None:
    with pytest.raises(UsageError, match="give host:port of the agent's DogStatsD"):
        AgentAddress.parse(written)
    sent = MetricsCollector(backend="datadog", endpoint=written).send_metrics({"x": 1})
    assert sent.measurements == 0
    assert written in str(sent.problem)
