from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.sinks.moody_server import until_it_answers


def a_free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Program:
    """A server program, ended with everything it started."""

    def __init__(self, command: list[str], ready: str, log: Path) -> None:
        self._process = subprocess.Popen(
            command, stdout=log.open("wb"), stderr=subprocess.STDOUT, start_new_session=True, cwd=log.parent
        )
        try:
            until_it_answers(ready)
        except OSError:
            self.end()
            raise AssertionError(f"{command[0]} did not start:\n{log.read_text()[-3000:]}") from None

    def end(self) -> None:
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self._process.wait()


@pytest.fixture(scope="session")
def mlflow_port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """A real server on sqlite: ready in 10 to 40 s, so there is one."""
    folder, port = tmp_path_factory.mktemp("mlflow"), a_free_port()
    command = [sys.executable, "-m", "mlflow", "server", "--host", "127.0.0.1", "--port", str(port), "--workers", "1"]
    command += ["--backend-store-uri", f"sqlite:///{folder}/m.db", "--artifacts-destination", str(folder / "files")]
    os.environ["MLFLOW_SERVER_ENABLE_JOB_EXECUTION"] = "false"
    program = Program(command, f"http://127.0.0.1:{port}/health", folder / "server.log")
    yield port
    program.end()


@pytest.fixture(scope="session")
def pushgateway_port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    folder, port = tmp_path_factory.mktemp("pushgateway"), a_free_port()
    command = ["prometheus-pushgateway", f"--web.listen-address=127.0.0.1:{port}"]
    program = Program(command, f"http://127.0.0.1:{port}/-/ready", folder / "server.log")
    yield port
    program.end()


@pytest.fixture(scope="session")
def prometheus_port(tmp_path_factory: pytest.TempPathFactory, pushgateway_port: int) -> Iterator[int]:
    """Takes remote writes, and scrapes the push gateway."""
    folder, port = tmp_path_factory.mktemp("prometheus"), a_free_port()
    (folder / "prometheus.yml").write_text(
        "global: {scrape_interval: 1s}\nscrape_configs:\n- job_name: push\n  honor_labels: true\n"
        f"  static_configs:\n  - targets: ['127.0.0.1:{pushgateway_port}']\n"
    )
    command = ["prometheus", f"--web.listen-address=127.0.0.1:{port}", "--web.enable-remote-write-receiver"]
    command += [f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data"]
    program = Program(command, f"http://127.0.0.1:{port}/-/ready", folder / "server.log")
    yield port
    program.end()
