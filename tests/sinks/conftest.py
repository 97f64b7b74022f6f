from __future__ import annotations

import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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

    @property
    def pid(self) -> int:
        return self._process.pid

    def end(self) -> None:
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self._process.wait()


class Shared:
    """A program that the test processes of one run share: the first starts it, the last ends it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(exist_ok=True)

    def join(self, start: Callable[[Path], tuple[int, int]]) -> int:
        """`start` gives the program's port and process; everybody gets the port."""
        with self._state() as state:
            if not state:
                state["port"], state["pid"] = start(self._folder)
            state["users"] = state.get("users", 0) + 1
            return int(state["port"])

    def leave(self) -> None:
        with self._state() as state:
            state["users"] -= 1
            if not state["users"]:
                os.killpg(state["pid"], signal.SIGKILL)
                state.clear()

    @contextmanager
    def _state(self) -> Iterator[dict[str, int]]:
        with (self._folder / "shared.json").open("a+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.seek(0)
            state = json.loads(file.read() or "{}")
            yield state
            file.seek(0)
            file.truncate()
            file.write(json.dumps(state))


@pytest.fixture(scope="session")
def mlflow_port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """A real server on sqlite: ready in 10 to 40 s, so there is one."""
    beside_workers = "PYTEST_XDIST_WORKER" in os.environ
    base = tmp_path_factory.getbasetemp()
    shared = Shared((base.parent if beside_workers else base) / "mlflow-server")
    yield shared.join(_start_mlflow)
    shared.leave()


def _start_mlflow(folder: Path) -> tuple[int, int]:
    port = a_free_port()
    command = [sys.executable, "-m", "mlflow", "server", "--host", "127.0.0.1", "--port", str(port), "--workers", "1"]
    command += ["--backend-store-uri", f"sqlite:///{folder}/m.db", "--artifacts-destination", str(folder / "files")]
    os.environ["MLFLOW_SERVER_ENABLE_JOB_EXECUTION"] = "false"
    return port, Program(command, f"http://127.0.0.1:{port}/health", folder / "server.log").pid


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
