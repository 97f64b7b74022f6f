from __future__ import annotations

import json
import math
import re
import subprocess
import sys
import urllib.parse
import urllib.request
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import cramjam
import pytest
from prometheus_client.parser import text_string_to_metric_families
from tests.sinks.conftest import Program, a_free_port
from tests.sinks.dogstatsd_agent import Agent
from tests.sinks.moody_server import Answer, MoodyServer, Request
from tests.sinks.otlp_collector import Collector, fields
from tests.sinks.sessions import Told, a_record, wait_for

from assay.benchmarks.weights.results import BenchmarkResults, Readings, ScenarioResult, SuiteResult
from assay.errors import UsageError
from assay.history import History
from assay.record import Outcome, SessionFolder
from assay.sinks.monitoring.metrics_collector import HELP, MetricsCollector, of_record
from assay.sinks.monitoring.monitoring_sink import dashboard
from assay.sinks.monitoring.prometheus import exposition, write_request

pytestmark = pytest.mark.xdist_group("monitoring")


def now(minus_s: float = 0.0) -> str:
    return (datetime.now(UTC) - timedelta(seconds=minus_s)).isoformat()


def get(url: str) -> Any:
    with urllib.request.urlopen(url, timeout=10) as response:
        return response.read().decode()


def query(port: int, expression: str) -> list[dict[str, Any]]:
    url = f"http://127.0.0.1:{port}/api/v1/query?{urllib.parse.urlencode({'query': expression})}"
    return json.loads(get(url))["data"]["result"]


def test_the_text_is_what_a_scraper_reads_with_the_latest_run_of_each_entry() -> None:
    nasty = 'a"b\\c\nd'
    records = [
        a_record(1, started_at="2026-01-02T00:00:00+00:00", script_metrics={"rows": 7, "nan": math.nan, "w": "x"}),
        a_record(1, started_at="2026-01-01T00:00:00+00:00"),
        a_record(2, name=nasty, outcome=Outcome.FAILED),
        a_record(3, warmup=True),
    ]
    families = {
        f.name: f.samples for f in text_string_to_metric_families(exposition(records, {"nightly": "h"}).decode())
    }
    metrics = {(s.labels["entry"], s.labels["metric"]): s.value for s in families["assay_metric"]}
    assert metrics["entry-1", "rows"] == 7
    assert math.isnan(metrics["entry-1", "nan"])
    assert ("entry-1", "w") not in metrics
    assert {(s.labels["entry"], s.value) for s in families["assay_run_success"]} == {("entry-1", 1.0), (nasty, 0.0)}


def test_a_push_gateway_holds_a_session_and_prometheus_scrapes_it(
    tmp_path: Path, pushgateway_port: int, prometheus_port: int
) -> None:
    told = Told(tmp_path, [{"name": "prometheus", "endpoint": f"http://127.0.0.1:{pushgateway_port}"}])
    told.run(a_record(1, name="pushed/slash"))
    told.run(a_record(2, name="pushed-2", outcome=Outcome.FAILED))
    [status] = told.end()
    assert status.state == "delivered", status
    families = {
        f.name: f.samples for f in text_string_to_metric_families(get(f"http://127.0.0.1:{pushgateway_port}/metrics"))
    }
    speeds = {s.labels["entry"]: s.value for s in families["assay_metric"] if s.labels["metric"] == "speed"}
    assert speeds["pushed/slash"] == 2.0
    [found] = wait_for(lambda: query(prometheus_port, 'assay_run_success{entry="pushed-2"}'))
    assert found["value"][1] == "0"
    assert found["metric"]["instance"] == "bench-1"


def test_a_server_takes_remote_writes_and_answers_queries(tmp_path: Path, prometheus_port: int) -> None:
    told = Told(tmp_path, [{"name": "prometheus", "endpoint": f"http://127.0.0.1:{prometheus_port}"}])
    told.run(a_record(1, name="written", started_at=now(5)))
    told.run(a_record(2, name="written long ago"))
    [status] = told.end()
    assert status.state == "delivered", status
    [recent] = query(prometheus_port, 'assay_metric{entry="written",metric="speed"}')
    assert recent["value"][1] == "2"
    assert recent["metric"]["unit"] == "1/s"
    # Too old for the server: stored at the time it arrived, the true time beside it.
    [old] = query(prometheus_port, 'assay_run_finished_timestamp_seconds{entry="written long ago"}')
    assert float(old["value"][1]) == datetime.fromisoformat("2026-01-01T00:00:03+00:00").timestamp()


def test_the_remote_write_message_by_its_wire_format() -> None:
    [measurement] = [m for m in of_record(a_record(1)) if m.name == "assay_run_success"]
    series = fields(
        fields(
            cramjam.snappy.decompress_raw(cramjam.snappy.compress_raw(write_request([measurement], "assay"))).read()
        )[1][0]
    )
    labels = [tuple(part.decode() for part in (fields(label)[1][0], fields(label)[2][0])) for label in series[1]]
    assert labels == [("__name__", "assay_run_success"), ("entry", "entry-1"), ("job", "assay"), ("repeat", "1")]
    assert fields(series[2][0])[2] == [measurement.at_ms]


def test_otlp_arrives_with_units_times_and_attributes(tmp_path: Path) -> None:
    collector = Collector()
    told = Told(tmp_path, [{"name": "otlp", "endpoint": collector.server.url}])
    told.run(a_record(1))
    [status] = told.end()
    assert status.state == "delivered", status
    [speed] = [p for p in collector.points if p.attributes.get("metric") == "speed"]
    assert (speed.name, speed.value, speed.unit) == ("assay.metric", 2.0, "1/s")
    assert speed.time_ns == 1767225601500 * 1_000_000
    assert speed.resource["service.name"] == "assay"
    [info] = [p for p in collector.points if p.name == "assay.run_info"]
    assert info.attributes["run_id"] == "nightly/entry-1/run-01"


def test_a_datadog_agent_reads_every_number_with_its_run(tmp_path: Path) -> None:
    agent = Agent()
    told = Told(tmp_path, [{"name": "datadog", "endpoint": f"127.0.0.1:{agent.port}"}])
    told.run(a_record(1, script_metrics={"rows/s (peak)": 4, "nan": math.nan}))
    told.run(a_record(2, outcome=Outcome.FAILED, name="bad|name,x"))
    [status] = told.end()
    assert status.state == "delivered", status
    agent.end()
    [gauge] = agent.gauges("assay.metric.rows_s_peak")
    assert gauge.value == 4
    assert gauge.tags["entry"] == "entry-1"
    assert gauge.tags["run_id"] == "nightly/entry-1/run-01"
    assert next((e.title, e.fields["t"], e.fields["k"]) for e in agent.events()) == (
        "entry-1 passed",
        "success",
        "nightly/entry-1/run-01",
    )
    assert agent.events()[1].fields["t"] == "error"


class TestMetricsCollector:
    def test_prometheus_is_found_out_by_asking(self, prometheus_port: int, pushgateway_port: int) -> None:
        record = a_record(1, name="collected", started_at=now(3))
        for port in (prometheus_port, pushgateway_port):
            sent = MetricsCollector(backend="prometheus", endpoint=f"http://127.0.0.1:{port}").send_metrics([record])
            assert sent.ok, sent
        assert query(prometheus_port, 'assay_run_success{entry="collected",job="assay"}')
        assert 'entry="collected"' in get(f"http://127.0.0.1:{pushgateway_port}/metrics")

    def test_a_gateway_named_by_its_path(self, pushgateway_port: int) -> None:
        url = f"http://127.0.0.1:{pushgateway_port}/metrics/job/nightly"
        assert MetricsCollector("prometheus", url).send_metrics(a_record(1, name="named")).ok
        assert 'entry="named",instance="",job="nightly"' in get(f"http://127.0.0.1:{pushgateway_port}/metrics")

    def test_results_that_are_no_records(self, pushgateway_port: int) -> None:
        results = {"dedup": {"ratio": 2.5, "detail": {"ok": True}, "word": "x"}}
        sent = MetricsCollector("pushgateway", f"http://127.0.0.1:{pushgateway_port}").send_metrics(results)
        assert sent.measurements == 2
        families = text_string_to_metric_families(get(f"http://127.0.0.1:{pushgateway_port}/metrics"))
        found = {
            s.labels["metric"]: s.value
            for f in families
            for s in f.samples
            if s.labels.get("entry") == "dedup" and "metric" in s.labels
        }
        assert found == {"ratio": 2.5, "detail.ok": 1.0}

    def test_results_of_the_weight_suites(self) -> None:
        readings = Readings()
        readings.at().add("ratio", 1.5, "x", "higher")
        results = BenchmarkResults("quick", (SuiteResult("sizes", (ScenarioResult("tiny", readings),)),), 1.0, 1.0)
        collector = Collector()
        assert MetricsCollector("otlp", collector.server.url).send_metrics(results).measurements == 1
        [point] = collector.points
        assert (point.attributes["entry"], point.attributes["metric"], point.value, point.unit) == (
            "quick",
            "sizes.tiny.ratio",
            1.5,
            "x",
        )

    def test_otlp_and_datadog(self) -> None:
        collector, agent = Collector(), Agent()
        assert MetricsCollector("otlp", collector.server.url).send_metrics([a_record(1).to_json()]).ok
        assert MetricsCollector("datadog", f"127.0.0.1:{agent.port}").send_metrics(a_record(2)).ok
        assert (
            MetricsCollector(backend="datadog", endpoint=f"http://127.0.0.1:{agent.port}").send_metrics(a_record(3)).ok
        )
        wait_for(lambda: agent.gauges("assay.metric.speed"))
        agent.end()
        assert [p.value for p in collector.points if p.attributes.get("metric") == "speed"] == [2.0]

    def test_grafana_live_as_its_http_api_says(self, grafana: MoodyServer) -> None:
        sent = MetricsCollector("grafana", grafana.url, token="glsa_x").send_metrics([a_record(1, name="a b,c=d")])
        assert sent.ok, sent
        [request] = grafana.seen
        assert b"assay_run_success,entry=a\\ b\\,c\\=d,repeat=1 value=1.0 1767225601500000000" in request.body
        wrong = MetricsCollector("grafana", grafana.url).send_metrics([a_record(1)])
        assert wrong.problem == "answered 401: unauthorized"

    def test_what_is_down_is_said_and_nothing_is_raised(self) -> None:
        for backend, endpoint in (
            ("prometheus", "http://127.0.0.1:9"),
            ("otlp", "http://127.0.0.1:9"),
            ("grafana", "http://127.0.0.1:9"),
            ("datadog", "127.0.0.1:9"),
        ):
            sent = MetricsCollector(backend, endpoint, timeout_s=1).send_metrics([a_record(1)])
            assert not sent.ok, backend
            assert sent.problem

    def test_a_backend_that_is_not_there_is_named(self) -> None:
        with pytest.raises(UsageError, match="prometheus"):
            MetricsCollector("promtheus")


@pytest.fixture
def grafana() -> Iterator[MoodyServer]:
    def take(request: Request) -> Answer:
        if request.headers.get("authorization") != "Bearer glsa_x":
            return Answer(401, b"unauthorized")
        if request.method != "POST" or request.route != "/api/live/push/assay":
            return Answer(404)
        for line in request.body.decode().splitlines():
            assert line.rsplit(" ", 1)[1].isdigit()
        return Answer(200)

    server = MoodyServer(take)
    yield server
    server.stop()


def test_every_panel_of_the_dashboard_is_answered_by_prometheus(prometheus_port: int) -> None:
    sent = MetricsCollector("remote_write", f"http://127.0.0.1:{prometheus_port}").send_metrics(
        [a_record(1, name="shown", started_at=now(3))]
    )
    assert sent.ok, sent
    panels = dashboard()["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    for panel in panels:
        for target in panel["targets"]:
            expression = target["expr"].replace("$entry", "shown").replace("$host", ".*").replace("$metric", "speed")
            assert set(re.findall(r"assay_\w+", expression)) <= set(HELP)
            assert query(prometheus_port, expression), panel["title"]


def test_a_datadog_agent_that_is_not_there_loses_nothing(tmp_path: Path) -> None:
    agent = Agent()
    port = agent.port
    agent.end()
    told = Told(tmp_path, [{"name": "datadog", "endpoint": f"127.0.0.1:{port}"}])
    told.run(a_record(1))
    [status] = told.end()
    assert (status.state, status.pending) == ("failing", 2)
    assert "ECONNREFUSED" in status.reason or "refused" in status.reason
    agent = Agent(port)
    [status] = told.flush()
    assert status.state == "delivered", status
    agent.end()
    assert {event.fields["k"] for event in agent.events()} == {"nightly/entry-1/run-01"}


def test_a_datadog_agent_that_dies_in_the_middle(tmp_path: Path) -> None:
    agent = Agent()
    told = Told(tmp_path, [{"name": "datadog", "endpoint": f"127.0.0.1:{agent.port}"}])
    told.run(a_record(1))
    wait_for(agent.events)
    agent.end()
    told.run(a_record(2))
    [status] = told.end()
    assert status.state == "failing", status
    again = Agent(agent.port)
    told.flush()
    again.end()
    assert {event.fields["k"] for event in again.events()} == {"nightly/entry-2/run-01"}


def test_prometheus_scrapes_assay_serve(tmp_path: Path) -> None:
    """A real Prometheus, pointed at a real `assay serve`."""
    results = tmp_path / "results"
    Told(results, []).run(a_record(1, script_metrics={"rows": 7}))
    with History.beside(results) as history:
        history.add_session(SessionFolder(results / "nightly"))
    words = [sys.executable, "-m", "assay", "serve", "--port", "0", "--results-dir", str(results)]
    serving = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    assert serving.stdout is not None
    try:
        address = serving.stdout.readline().strip().removeprefix("http://").rstrip("/")
        port = a_free_port()
        (tmp_path / "prometheus.yml").write_text(
            "global: {scrape_interval: 1s}\nscrape_configs:\n"
            f"- job_name: assay\n  static_configs:\n  - targets: ['{address}']\n"
        )
        command = ["prometheus", f"--web.listen-address=127.0.0.1:{port}"]
        command += [f"--config.file={tmp_path}/prometheus.yml", f"--storage.tsdb.path={tmp_path}/data"]
        program = Program(command, f"http://127.0.0.1:{port}/-/ready", tmp_path / "server.log")
        try:
            [found] = wait_for(lambda: query(port, 'assay_metric{entry="entry-1",metric="rows"}'))
        finally:
            program.end()
    finally:
        serving.terminate()
        serving.wait()
    assert (found["value"][1], found["metric"]["host"]) == ("7", "bench-1")
