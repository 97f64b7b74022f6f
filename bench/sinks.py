"""`make bench-sinks`: a session of 1,000 entries with every sink on, each with its real server or a strict local one.

Says what telling the sinks costs the session's own process (CPU beside that of writing its results alone), how much
memory each courier uses early and late, and how long each sink takes to have everything. Exits 1 if something is
missing at the end, or a courier's memory grew by more than half and 50 MB (libraries come in late) on the way.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.sinks.conftest import Program, a_free_port
from tests.sinks.dogstatsd_agent import Agent
from tests.sinks.drive_service import FOLDER, Drive
from tests.sinks.moody_server import Answer, MoodyServer
from tests.sinks.otlp_collector import Collector
from tests.sinks.sessions import Told, a_record
from tests.sinks.slack_service import CHANNEL, TOKEN, Slack

from assay.record import Outcome
from assay.record.results_file import append_record
from assay.sinks.delivery.delivery import statuses

PAGE_MB = os.sysconf("SC_PAGE_SIZE") / 1e6


def main(entries: int) -> int:
    with TemporaryDirectory(prefix="assay-bench-sinks-") as scratch:
        root = Path(scratch)
        programs, specs = services(root)
        try:
            return measure(root, specs, entries)
        finally:
            for program in programs:
                program.end()


def services(root: Path) -> tuple[list[Program], list[dict[str, Any]]]:
    ports = [a_free_port() for _ in range(3)]
    mlflow, gateway, prometheus = (f"http://127.0.0.1:{port}" for port in ports)
    os.environ.update(MLFLOW_SERVER_ENABLE_JOB_EXECUTION="false", SLACK_BOT_TOKEN=TOKEN)
    (root / "prometheus.yml").write_text("global: {}\n")
    serve = [sys.executable, "-m", "mlflow", "server", "--host", "127.0.0.1", "--port", str(ports[0]), "--workers", "1"]
    serve += ["--backend-store-uri", f"sqlite:///{root}/m.db", "--artifacts-destination", str(root / "files")]
    write = ["prometheus", f"--web.listen-address=127.0.0.1:{ports[2]}", "--web.enable-remote-write-receiver"]
    write += [f"--config.file={root}/prometheus.yml", f"--storage.tsdb.path={root}/tsdb"]
    programs = [
        Program(serve, f"{mlflow}/health", root / "mlflow.log"),
        Program(
            ["prometheus-pushgateway", f"--web.listen-address=127.0.0.1:{ports[1]}"],
            f"{gateway}/-/ready",
            root / "gateway.log",
        ),
        Program(write, f"{prometheus}/-/ready", root / "prometheus.log"),
    ]
    slack, drive, collector, agent = Slack(), Drive(), Collector(), Agent()
    grafana = MoodyServer(lambda request: Answer(200))
    account = drive.account_file(root)
    specs: list[dict[str, Any]] = [
        {"name": "mlflow", "tracking_uri": mlflow},
        {"name": "wandb", "mode": "offline"},
        {"name": "slack", "channel_id": CHANNEL, "base_url": slack.api, "live_updates": True},
        {"name": "slack-webhook", "class": "slack", "webhook_url": slack.hook},
        {"name": "gdrive", "drive_folder_id": FOLDER, "service_account_file": account, "api_root": drive.server.url},
        {"name": "pushgateway", "class": "prometheus", "kind": "pushgateway", "endpoint": gateway},
        {"name": "prometheus", "kind": "remote_write", "endpoint": prometheus},
        {"name": "otlp", "endpoint": collector.server.url},
        {"name": "grafana", "endpoint": grafana.url},
        {"name": "datadog", "endpoint": f"127.0.0.1:{agent.port}"},
        *({"name": name} for name in ("jsonl", "csv", "junit", "github_summary")),
    ]
    return programs, specs


def measure(root: Path, specs: list[dict[str, Any]], entries: int) -> int:
    records = [a_record(n, outcome=Outcome.FAILED if n % 50 == 0 else Outcome.PASSED) for n in range(entries)]
    # CPU time of this thread only: the local servers are threads of this process too.
    alone = time.thread_time()
    for record in records:
        append_record(root / "alone.jsonl", record)
    alone = time.thread_time() - alone

    told = Told(root, specs)
    outbox = told.delivery._outbox
    began, spent = time.monotonic(), time.thread_time()
    for record in records:
        told.run(record)
    told.finish()
    spent = time.thread_time() - spent
    telling = time.monotonic() - began
    print(f"{entries} entries, {len(specs)} sinks")
    print(
        f"session's CPU per entry: {1000 * spent / entries:.2f} ms told, {1000 * alone / entries:.2f} ms results alone"
    )
    print(
        f"telling took {telling:.1f} s of wall time, {(outbox.log.size()) / entries / 1000:.1f} kB of outbox per entry"
    )

    early: dict[str, float] = {}
    late: dict[str, float] = {}
    done: dict[str, float] = {}
    while True:
        memory = couriers(outbox.folder)
        for status in statuses(outbox, told.delivery._specs):
            seen = memory.get(status.name)
            if seen and status.delivered >= 2 * entries * 0.1:
                early.setdefault(status.name, seen)
                late[status.name] = seen
            if not status.pending:
                done.setdefault(status.name, time.monotonic() - began)
        if len(done) == len(specs) or time.monotonic() - began > 3600:
            break
        time.sleep(0.5)
    final = told.delivery.close(60)
    print(f"{'sink':16} {'all there after':>16} {'per s':>7} {'memory early':>13} {'late':>8}")
    wrong = 0
    for status in final:
        first, last = early.get(status.name, 0.0), late.get(status.name, 0.0)
        wrong += bool(status.pending or status.refused) or last > 1.5 * first + 50
        took = done.get(status.name)
        shown = f"{took:14.1f} s {entries / took:7.0f}" if took else f"{'not':>16} {'':7}"
        print(f"{status.name:16} {shown} {first:10.0f} MB {last:5.0f} MB  {status}")
    return int(wrong > 0)


def couriers(folder: Path) -> dict[str, float]:
    """Resident memory by sink: a courier is the process that holds its sink's state open."""
    found: dict[str, float] = {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if b"assay.sinks.delivery.worker" not in (process / "cmdline").read_bytes():
                continue
            links = [os.readlink(link) for link in (process / "fd").iterdir()]
            resident = int((process / "statm").read_text().split()[1]) * PAGE_MB
        except OSError:
            continue
        for link in links:
            if link.startswith(str(folder)) and link.endswith(".sqlite"):
                found[Path(link).stem] = resident
    return found


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000))
