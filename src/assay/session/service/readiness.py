from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from assay.config.service import Service
from assay.files.reading import USAGE, Unreadable, read_text
from assay.files.writing import write_atomic
from assay.process.spec import Unended, unended_warnings
from assay.process.unkillable import GIVE_UP_S, look_at

_DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True)
class ServiceAddress:
    """Where one start of a service is reached."""

    url: str
    port: int | None
    """A free port that was found for it; None where its files name one."""

    @property
    def placeholders(self) -> dict[str, str]:
        return {"service_url": self.url, "port": str(self.port or self.endpoint[1] or "")}

    @property
    def variables(self) -> dict[str, str]:
        """Environment variables that tell the program where its service is."""
        host, port = self.endpoint
        return {"ASSAY_SERVICE_URL": self.url, "ASSAY_SERVICE_HOST": host, "ASSAY_SERVICE_PORT": str(port or "")}

    @property
    def endpoint(self) -> tuple[str, int | None]:
        """Host and port."""
        return endpoint_of(self.url)

    @property
    def passing(self) -> tuple[str, ...]:
        """Words that name this address and no other run's; none where it has a port of its own."""
        return () if self.port is None else (f":{self.port}",)

    def join(self, path: str) -> str:
        """A path below the address; a URL stays one."""
        return path if "://" in path else f"{self.url}{path}"


def endpoint_of(url: str) -> tuple[str, int | None]:
    """Host and port of a URL; no port where it names none that could be one."""
    parts = urlsplit(url)
    try:
        port = parts.port
    except ValueError:
        port = None
    return parts.hostname or "127.0.0.1", port or _DEFAULT_PORTS.get(parts.scheme)


def find_address(service: Service, folders: dict[str, str]) -> ServiceAddress:
    """The address of a service. A free port is one that nobody has now: if another process takes it first, the start
    fails."""
    port = free_port() if service.needs_port else None
    values = {**folders, "port": str(port or ""), "service_url": ""}
    return ServiceAddress(service.at(values).url, port)


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def answers(host: str, port: int, timeout_s: float = 1.0) -> bool:
    """Whether anybody takes connections there."""
    try:
        with socket.create_connection((host, port), timeout_s):
            return True
    except OSError:
        return False


_ANSWER_S = 2.0
"""Seconds to wait for one answer. A server that is busy with its start may take connections and not answer yet."""
_COMMAND_S = 10.0
_BLOCK = 1 << 20
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))
"""Opener that leaves out the proxies that the environment names: a service is asked directly."""


class ReadyCheck:
    """Whether a service can be used. `why_not` says what the last look has found."""

    def __init__(self, service: Service, address: ServiceAddress, log: Path, env: Mapping[str, str], cwd: Path) -> None:
        """`service`: with every placeholder filled in."""
        self._service = service
        self._address = address
        self._log = log
        self._env, self._cwd = env, cwd
        self._read = 0
        self._rest = b""
        self._stuck: subprocess.Popen[bytes] | None = None
        """A ready command that could not be ended: while it runs, no other is started."""
        self.why_not = ""

    def passes(self) -> bool:
        ready = self._service.ready
        if ready is None or ready.tcp is not None:
            return self._takes_connections(None if ready is None else str(ready.tcp))
        if ready.http is not None:
            return self._answers(self._address.join(ready.http))
        if ready.log is not None:
            return self._says(ready.log)
        return self._command_succeeds()

    def _takes_connections(self, written: str | None) -> bool:
        host, port = self._address.endpoint if written is None else _endpoint(written)
        if port is None:
            self.why_not = f"{written or self._address.url} names no port"
            return False
        self.why_not = f"port {port} of {host} took no connection"
        return answers(host, port)

    def _answers(self, url: str) -> bool:
        try:
            with DIRECT.open(url, timeout=_ANSWER_S):
                return True
        except urllib.error.HTTPError as error:
            self.why_not = f"{url} answered with status {error.code}"
        except (OSError, ValueError) as error:  # ValueError: what answers is no HTTP, or the URL is none
            self.why_not = f"{url} did not answer: {getattr(error, 'reason', error)}"
        return False

    def _says(self, pattern: str) -> bool:
        self.why_not = f"no line of its output matched {pattern!r}"
        try:
            with self._log.open("rb") as log:
                log.seek(self._read)
                new = log.read(_BLOCK)
        except FileNotFoundError:  # its supervisor makes it first of all
            return False
        self._read += len(new)
        *lines, self._rest = (self._rest + new)[-_BLOCK:].split(b"\n")
        wanted = re.compile(pattern)
        return any(wanted.search(line.decode("utf-8", "replace")) for line in [*lines, self._rest])

    def _command_succeeds(self) -> bool:
        if self._stuck is not None and self._stuck.poll() is None:
            return False
        argv = list(self._service.ready_command)
        try:
            asked = subprocess.Popen(
                argv,
                env=dict(self._env),
                cwd=self._cwd,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError as error:
            self.why_not = f"its ready command could not be started: {error.strerror}: {argv[0]}"
            return False
        try:
            code = asked.wait(_COMMAND_S)
            self.why_not = f"its ready command exited with {code}"
            return code == 0
        except subprocess.TimeoutExpired:
            self.why_not = f"its ready command took longer than {_COMMAND_S:g} s"
            return False
        finally:
            unended = _end_group(asked)
            if unended:
                self._stuck = asked
                self.why_not += f"; {unended}"


def _endpoint(written: str) -> tuple[str, int | None]:
    """`8000`, `host:8000`."""
    parts = urlsplit(f"//{written}" if ":" in written else f"//127.0.0.1:{written}")
    try:
        return parts.hostname or "127.0.0.1", parts.port
    except ValueError:
        return written, None


def _end_group(process: subprocess.Popen[bytes]) -> str:
    """Kills a check's process with whatever it started; returns why it could not, or nothing."""
    refused: set[int] = set()
    try:
        os.killpg(process.pid, signal.SIGKILL)
        os.kill(process.pid, signal.SIGKILL)  # A group takes a signal if one of it may be signalled: is it this one?
    except ProcessLookupError:
        pass
    except PermissionError:
        refused = {process.pid}
    try:
        process.wait(0 if refused else GIVE_UP_S)
    except subprocess.TimeoutExpired:
        return "; ".join(unended_warnings([Unended(*found) for found in look_at({process.pid}, refused)]))
    return ""


class ServiceUsage:
    """What a service used while a program ran: the rows of its own samples from that time."""

    def __init__(self, samples: Path, begin_s: float, end_s: float) -> None:
        """`samples`: usage.csv of the service's supervisor; times are seconds from the start of the service."""
        self.header: list[str] = []
        self.rows: list[list[float]] = []
        try:
            lines = read_text(samples, USAGE).splitlines()
        except (OSError, Unreadable):
            return
        self.header = lines[0].split(",") if lines else []
        for line in lines[1:]:
            try:
                row = [float(cell) for cell in line.split(",")]
            except ValueError:
                continue
            if len(row) == len(self.header) and begin_s <= row[0] <= end_s:
                self.rows.append([round(row[0] - begin_s, 3), *row[1:]])

    def write(self, path: Path) -> None:
        """Writes the rows in the form of a program's `usage.csv`: seconds from the start of the program."""
        if self.rows:
            lines = [",".join(self.header), *(",".join(f"{cell:.10g}" for cell in row) for row in self.rows)]
            write_atomic(path, "\n".join(lines) + "\n")

    def metrics(self, cpu_s: float) -> dict[str, Any]:
        """`cpu_s`: from the kernel's accounts at the program's start and end."""
        metrics = {"service_cpu_s": _lower(cpu_s, "s")}
        memory = self._column("rss_mb")
        if memory:
            metrics["service_peak_rss_mb"] = _lower(max(memory), "MB")
            metrics["service_mean_rss_mb"] = _lower(sum(memory) / len(memory), "MB")
        energy = self._column("gpu_energy_j")
        if len(energy) > 1:
            metrics["service_gpu_energy_j"] = _lower(energy[-1] - energy[0], "J")
        gpu_memory = self._column("gpu_memory_mb")
        if gpu_memory:
            metrics["service_gpu_peak_memory_mb"] = _lower(max(gpu_memory), "MB")
        busy = self._column("gpu_pct")
        if busy:
            metrics["service_gpu_mean_utilisation"] = {"value": sum(busy) / len(busy), "unit": "%"}
        return metrics

    def _column(self, name: str) -> list[float]:
        """Values of a column, without those that are not known (NaN)."""
        if name not in self.header:
            return []
        at = self.header.index(name)
        return [row[at] for row in self.rows if row[at] == row[at]]


def _lower(value: float, unit: str) -> Mapping[str, Any]:
    return {"value": value, "unit": unit, "better": "lower"}
