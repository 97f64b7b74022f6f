"""A local S3 server (moto) and the client that users have (s3fs), from `.peers/s3`; see make/torture.mk."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PEER = Path(__file__).parents[2] / ".peers" / "s3"


@contextmanager
def s3_server() -> Iterator[str]:
    """The address of a bucket. What processes started meanwhile need to reach it is in the environment."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    path = os.environ.get("PYTHONPATH", "")
    added = {
        "PYTHONPATH": f"{path}:{PEER}", "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1", "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
        "AWS_EC2_METADATA_DISABLED": "true",
    }  # fmt: skip
    before = {name: os.environ.get(name) for name in added}
    os.environ.update(added)
    sys.path.append(str(PEER))
    server = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        _make_bucket(f"http://127.0.0.1:{port}/assay")
        yield "s3://assay"
    finally:
        server.kill()
        server.wait()
        sys.path.remove(str(PEER))
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


def _make_bucket(address: str) -> None:
    until = time.monotonic() + 60
    while True:
        try:
            with urllib.request.urlopen(urllib.request.Request(address, method="PUT"), timeout=5):
                return
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.2)
