"""A Ray cluster of a run's own, as the supervisor's companion.

Ray finds other clusters by scanning processes and listens on the machine's outside address whatever it is told;
`isolation: namespace` is the only wall against both. Otherwise: own ports, own temp folder, own token.
"""

from __future__ import annotations

import importlib.util
import json
import os
import secrets
import shutil
import socket
import sys
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from assay.errors import AssayError, MissingExtra
from assay.process.spec import CompanionSpec
from assay.session import machine
from assay.session.capture_environment import AskedInterpreter

if TYPE_CHECKING:
    from assay.config.entry_config import RayConfig


def object_store_bytes(ray: RayConfig) -> int | None:
    """None where Ray decides. A fraction is one of the memory that a container leaves to this process."""
    size = ray.object_store_size
    if size is None or isinstance(size, str):
        return None
    return size if isinstance(size, int) else int(size * machine.usable_memory_bytes())


READY = "Ray runtime started."
_START = "import sys; sys.path[:] = filter(None, sys.path); from ray.scripts.scripts import main; sys.exit(main())"
"""Ray's own command, for any Python; nothing in the working folder can be taken for a module of Ray's."""
_CLIENT_PORT = "ray-client-server-port"
"""Refused by a Ray that was installed without its client, which needs grpcio; it then serves no client at all."""
_PORTS = (
    "port",
    "object-manager-port",
    "node-manager-port",
    "dashboard-agent-listen-port",
    "dashboard-agent-grpc-port",
    "runtime-env-agent-port",
    "metrics-export-port",
    _CLIENT_PORT,
)


class RayCluster:
    def __init__(
        self, config: RayConfig, logs: Path, kept: Path | None, python: AskedInterpreter | None = None
    ) -> None:
        """`python`: the entry's own, whose Ray it is; without it Assay's."""
        self._config = config
        self._python = python
        self._log = logs / "ray_startup.log"
        self._kept = kept
        self._token = secrets.token_hex(32)
        self._ports = _free_ports(len(_PORTS))
        # A socket's path may have 107 characters, and Ray's own part takes most of them: not below the session.
        self._temp = Path(tempfile.mkdtemp(prefix="assay-ray-"))

    @property
    def namespace(self) -> bool:
        return self._config.isolation == "namespace"

    @property
    def environment(self) -> dict[str, str]:
        return {
            "RAY_ADDRESS": f"127.0.0.1:{self._ports[0]}",
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN": self._token,
            "RAY_USAGE_STATS_ENABLED": "0",
            "RAY_TMPDIR": str(self._temp),
        }

    def companion(self, environment: Mapping[str, str], cwd: Path) -> CompanionSpec:
        """`cwd` is the program's: Ray's workers run where their cluster was started, and open its relative paths."""
        own = {name: value for name, value in self.environment.items() if name != "RAY_ADDRESS"}
        inherited = {name: value for name, value in environment.items() if name != "RAY_ADDRESS"}
        return CompanionSpec(
            name="the Ray cluster",
            argv=self.command(),
            env={**inherited, **own},
            cwd=cwd,
            log=self._log,
            ready=READY,
            timeout_s=self._config.start_timeout_s,
        )

    def command(self) -> list[str]:
        if self._python is None and importlib.util.find_spec("ray") is None:
            raise MissingExtra("ray", "ray")
        if self._python is not None and not self._python.has("ray"):
            path = self._python.path
            raise AssayError(f"asks for a Ray cluster, but {path} has no Ray: {path} -m pip install 'ray[default]'")
        config = self._config
        python = self._python.path if self._python else sys.executable
        words = [python, "-c", _START, "start", "--head", "--block"]
        words += ["--node-ip-address=127.0.0.1", f"--temp-dir={self._temp}", "--include-dashboard=false"]
        words += ["--disable-usage-stats", "--log-style=record", "--log-color=false"]
        serves_clients = self._python is None or self._python.has("grpcio")
        ports = zip(_PORTS, self._ports, strict=True)
        words += [f"--{name}={port}" for name, port in ports if name != _CLIENT_PORT or serves_clients]
        if config.num_cpus is not None:
            words.append(f"--num-cpus={config.num_cpus}")
        if config.num_gpus is not None:
            words.append(f"--num-gpus={config.num_gpus}")
        size = object_store_bytes(config)
        if size is not None:
            words.append(f"--object-store-memory={size}")
        if not config.spills:
            words.append("--system-config=" + json.dumps({"automatic_object_spilling_enabled": False}))
        return words

    def close(self) -> None:
        """After the tree is gone: logs are kept where they were asked for, the rest is removed."""
        for logs in self._temp.glob("session_2*/logs"):
            if self._kept is not None:
                shutil.copytree(
                    logs, self._kept / logs.parent.name, symlinks=True, dirs_exist_ok=True, ignore=_not_files
                )
        shutil.rmtree(self._temp, ignore_errors=True)


def _not_files(folder: str, names: list[str]) -> list[str]:
    """Names that are not copied: all but files. Links too, since they lead into what is removed."""
    paths = {name: f"{folder}/{name}" for name in names}
    return [name for name, at in paths.items() if os.path.islink(at) or not (os.path.isfile(at) or os.path.isdir(at))]


def _free_ports(count: int) -> list[int]:
    """Free ports; all are held open while they are chosen, so that no two are the same."""
    with ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [int(one.getsockname()[1]) for one in sockets]
