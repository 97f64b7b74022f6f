from __future__ import annotations

import os
import re
import signal
import subprocess
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from assay.config.service.service import Service
from assay.process.result import Unended, unended_warnings
from assay.process.unended import GIVE_UP_S, look_at
from assay.session.service.address import ServiceAddress, answers

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
