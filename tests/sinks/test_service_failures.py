"""Every sink with a service behind it, and everything that can be wrong with a service. Whatever it is, the session's
results are what they are without it, none of its calls waits, and in the end the service has every entry: exactly once
where it can be looked at, otherwise at least once."""

from __future__ import annotations

import json
import time
import urllib.parse
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.sinks.drive_service import FOLDER, Drive
from tests.sinks.moody_server import Answer, MoodyServer, Request, forward_to
from tests.sinks.otlp_collector import Collector
from tests.sinks.sessions import Told, a_record, wait_for
from tests.sinks.slack_service import CHANNEL, TOKEN, Slack, all_text
from tests.sinks.wandb_service import KEY, Wandb

from assay.record import Record
from assay.sinks import SinkStatus

pytestmark = [pytest.mark.slow]


@dataclass
class Service:
    spec: dict[str, Any]
    server: MoodyServer
    entries: Callable[[], Counter[str]]
    """What the service has, read from the service."""
    exact: bool = True
    live: bool = True
    """False: it is told when the session is over."""


@pytest.fixture
def session_name(request: pytest.FixtureRequest) -> str:
    return f"s{abs(hash(request.node.name)) % 10**8}-{time.time_ns()}"


@pytest.fixture
def mlflow(mlflow_port: int, session_name: str) -> Service:
    server = MoodyServer(forward_to(mlflow_port))
    spec = {"name": "mlflow", "tracking_uri": server.url, "experiment": session_name}

    def entries() -> Counter[str]:
        from mlflow.tracking import MlflowClient

        client = MlflowClient(f"http://127.0.0.1:{mlflow_port}")
        experiment = client.get_experiment_by_name(session_name)
        runs = client.search_runs([experiment.experiment_id]) if experiment else []
        children = [run for run in runs if "mlflow.parentRunId" in run.data.tags]
        assert len(runs) - len(children) <= 1
        for run in children:
            assert len(client.get_metric_history(run.info.run_id, "speed")) <= 1
        return Counter(run.data.tags["assay.entry"] for run in children if run.info.status == "FINISHED")

    return Service(spec, server, entries)


@pytest.fixture
def pushgateway(pushgateway_port: int, session_name: str) -> Service:
    server = MoodyServer(forward_to(pushgateway_port))

    def entries() -> Counter[str]:
        from prometheus_client.parser import text_string_to_metric_families

        text = urllib.request.urlopen(f"http://127.0.0.1:{pushgateway_port}/metrics", timeout=10).read().decode()
        samples = [s for f in text_string_to_metric_families(text) if f.name == "assay_run_info" for s in f.samples]
        return Counter(s.labels["entry"] for s in samples if s.labels["session"] == session_name)

    return Service({"name": "prometheus", "kind": "pushgateway", "endpoint": server.url}, server, entries)


@pytest.fixture
def remote_write(prometheus_port: int, session_name: str) -> Service:
    server = MoodyServer(forward_to(prometheus_port))

    def entries() -> Counter[str]:
        expression = f'count_over_time(assay_run_info{{session="{session_name}"}}[1h])'
        query = urllib.parse.urlencode({"query": expression})
        url = f"http://127.0.0.1:{prometheus_port}/api/v1/query?{query}"
        found = json.loads(urllib.request.urlopen(url, timeout=10).read())["data"]["result"]
        return Counter({series["metric"]["entry"]: int(series["value"][1]) for series in found})

    return Service({"name": "prometheus", "kind": "remote_write", "endpoint": server.url}, server, entries)


@pytest.fixture
def otlp() -> Service:
    collector = Collector()

    def entries() -> Counter[str]:
        return Counter(point.attributes["entry"] for point in collector.points if point.name == "assay.run_info")

    return Service({"name": "otlp", "endpoint": collector.server.url}, collector.server, entries, exact=False)


@pytest.fixture
def grafana() -> Service:
    taken: list[str] = []

    def take(request: Request) -> Answer:
        taken.extend(line for line in request.body.decode().splitlines() if line.startswith("assay_run_info"))
        return Answer(200)

    def entries() -> Counter[str]:
        return Counter(line.split("entry=")[1].split(",")[0] for line in taken)

    server = MoodyServer(take)
    return Service({"name": "grafana", "endpoint": server.url}, server, entries, exact=False)


@pytest.fixture
def slack_bot(monkeypatch: pytest.MonkeyPatch) -> Service:
    monkeypatch.setenv("SLACK_BOT_TOKEN", TOKEN)
    slack = Slack()
    spec = {"name": "slack", "channel_id": CHANNEL, "base_url": slack.api, "live_updates": True, "pace_s": 0.05}
    return Service(spec, slack.server, lambda: _named([all_text(m.blocks) for m in slack.main()]))


@pytest.fixture
def slack_webhook(monkeypatch: pytest.MonkeyPatch) -> Service:
    slack = Slack()
    monkeypatch.setenv("SLACK_WEBHOOK_URL", slack.hook)
    spec = {"name": "slack", "webhook_url": slack.hook}
    said = slack.hooked
    return Service(spec, slack.server, lambda: _named([all_text(m["blocks"]) for m in said]), exact=False, live=False)


@pytest.fixture
def gdrive(tmp_path: Path) -> Service:
    drive = Drive()
    spec = {"name": "gdrive", "drive_folder_id": FOLDER, "api_root": drive.server.url}

    def entries() -> Counter[str]:
        return Counter({"entry-1": len(drive.files), "entry-2": len(drive.files)})

    account = drive.account_file(tmp_path)
    return Service({**spec, "service_account_file": account}, drive.server, entries, live=False)


@pytest.fixture
def wandb(monkeypatch: pytest.MonkeyPatch) -> Service:
    monkeypatch.setenv("WANDB_API_KEY", KEY)
    wandb = Wandb()
    # Files of an artifact go through a dozen more calls of W&B's own; offline they are tested.
    spec = {"name": "wandb", "mode": "online", "project": "bench", "base_url": wandb.server.url, "artifacts": False}

    def entries() -> Counter[str]:
        for run in wandb.runs.values():
            if run.exit_code is not None:
                assert [row["speed"] for row in run.history] == [1.0, 2.0, 3.0]
        assert wandb.unknown == []
        return wandb.finished()

    return Service({**spec, "delivery_timeout_s": 20}, wandb.server, entries)


def _named(texts: list[str]) -> Counter[str]:
    return Counter(entry for text in texts for entry in ("entry-1", "entry-2") if f"✅ `{entry}`" in text)


SERVICES = [
    pytest.param(name, marks=pytest.mark.xdist_group(name if name in ("mlflow", "wandb") else "monitoring"))
    for name in (
        "mlflow", "pushgateway", "remote_write", "otlp", "grafana", "slack_bot", "slack_webhook", "gdrive", "wandb",
    )
]  # fmt: skip


@pytest.fixture(params=SERVICES)
def service(request: pytest.FixtureRequest) -> Iterator[Service]:
    found: Service = request.getfixturevalue(request.param)
    yield found
    found.server.stop()


class Case:
    """A session of two entries against a service, as a test goes through it."""

    def __init__(self, tmp_path: Path, service: Service, name: str) -> None:
        self.service = service
        self.records = [self._record(number, name) for number in (1, 2)]
        self.told = Told(tmp_path, [service.spec], name)

    @staticmethod
    def _record(number: int, name: str) -> Record:
        return a_record(number, name, started_at=datetime.now(UTC).isoformat(), exec_time_s=0.0)

    def run(self, number: int) -> None:
        self.told.run(self.records[number - 1])

    def end(self) -> SinkStatus:
        [status] = self.told.end()
        assert self.told.folder.records() == self.records
        return status

    def flush(self) -> SinkStatus:
        [status] = self.told.flush()
        return status

    def arrived(self) -> None:
        entries = self.service.entries()
        assert set(entries) == {"entry-1", "entry-2"}
        if self.service.exact:
            assert set(entries.values()) == {1}, entries


@pytest.fixture
def case(tmp_path: Path, service: Service, session_name: str) -> Callable[[], Case]:
    return lambda: Case(tmp_path, service, session_name)


def test_down_at_the_start(service: Service, case: Callable[[], Case]) -> None:
    service.server.stop()
    now = case()
    now.run(1)
    now.run(2)
    status = now.end()
    assert status.state == "failing"
    assert status.pending
    assert status.reason
    assert "assay sinks flush" in str(status)
    service.server.start()
    assert now.flush().state == "delivered"
    now.arrived()


def test_dies_in_the_middle(service: Service, case: Callable[[], Case]) -> None:
    now = case()
    now.run(1)
    if service.live:
        wait_for(lambda: service.entries()["entry-1"])
    service.server.stop()
    now.run(2)
    status = now.end()
    assert (status.state, status.pending > 0) == ("failing", True)
    service.server.start()
    assert now.flush().state == "delivered"
    now.arrived()


def test_slow(service: Service, case: Callable[[], Case]) -> None:
    service.server.be_slow(1.0, 1.0, 1.0)
    now = case()
    now.run(1)
    now.run(2)
    # The calls have come back; what they told has not arrived yet.
    assert service.entries()["entry-2"] == 0
    status = now.end()
    assert status.state == "delivered", status
    assert now.told.delivery._outbox.state(service.spec["name"]).progress.ever_failed == 0
    now.arrived()


def test_answers_500_and_recovers(service: Service, case: Callable[[], Case]) -> None:
    service.server.fail_next(Answer(500, b"{}"), Answer(503, b"{}"))
    now = case()
    now.run(1)
    state = now.told.delivery._outbox.state(service.spec["name"])
    if service.live:
        wait_for(lambda: state.progress.position and state.progress.failures == 0 and service.entries()["entry-1"])
    now.run(2)
    status = now.end()
    if status.pending:
        # A sink that is told at the end has used up its tries of that moment.
        status = now.flush()
    assert status.state == "delivered", status
    now.arrived()


def test_killed_between_sending_and_acknowledging(service: Service, case: Callable[[], Case]) -> None:
    now = case()
    if service.live:
        now.run(1)
        wait_for(lambda: service.entries()["entry-1"])
    service.server.matching = lambda request: request.method in ("POST", "PUT")
    service.server.swallow_next()
    now.run(2) if service.live else (now.run(1), now.run(2), now.told.finish())
    assert service.server.swallowed.wait(60)
    worker = now.told.delivery._worker
    assert worker is not None
    worker.kill()
    worker.wait()
    assert now.told.folder.records() == now.records
    if service.live:
        now.told.finish()
    status = now.flush()
    assert status.state == "delivered", status
    now.arrived()


def test_an_answer_that_breaks_off(service: Service, case: Callable[[], Case]) -> None:
    now = case()
    service.server.matching = lambda request: request.method in ("POST", "PUT")
    service.server.half_close_next()
    now.run(1)
    now.run(2)
    status = now.end()
    if status.pending:
        status = now.flush()
    assert status.state == "delivered", status
    now.arrived()


@pytest.mark.xdist_group("monitoring")
def test_ten_seconds_slow(tmp_path: Path, remote_write: Service, session_name: str) -> None:
    remote_write.server.be_slow(10.0)
    now = Case(tmp_path, remote_write, session_name)
    now.run(1)
    now.run(2)
    assert remote_write.entries() == Counter()
    status = now.end()
    assert status.state == "delivered", status
    assert now.told.delivery._outbox.state("prometheus").progress.ever_failed == 0
    now.arrived()
    remote_write.server.stop()
