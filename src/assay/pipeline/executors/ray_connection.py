from __future__ import annotations

import logging
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from assay.errors import MissingExtra, UsageError
from assay.pipeline.stage import PipelineError

STARTS = 3


def import_ray() -> Any:
    try:
        import ray
    except ImportError:
        raise MissingExtra("ray", "ray") from None
    return ray


@contextmanager
def ray_cluster(least_cpus: int = 1) -> Iterator[Any]:
    """The cluster of RAY_ADDRESS if that is set, otherwise one of our own that ends with the run.

    `least_cpus` is for our own: Ray's processors are places to put workers, and may be more than the machine has.
    """
    ray = import_ray()
    if ray.is_initialized():
        yield ray
        return
    quiet = {"logging_level": logging.ERROR, "log_to_driver": False}
    address = os.environ.get("RAY_ADDRESS")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    if address:
        try:
            _knock(address)
            ray.init(address=address, **quiet)
        except (OSError, RuntimeError, ValueError) as error:
            reason = str(error).strip().splitlines()[0]
            raise UsageError(
                f"RAY_ADDRESS={address}: no Ray cluster answers there ({reason}). "
                "Start one, or unset the variable to have one started for the run"
            ) from None
    else:
        _start(ray, max(len(os.sched_getaffinity(0)), least_cpus), quiet)
    try:
        yield ray
    finally:
        ray.shutdown()


def _start(ray: Any, cpus: int, quiet: dict[str, Any]) -> None:
    """Starts Ray with more patience: it gives itself half a minute, which a busy machine may need for something
    else."""
    for attempt in range(1, STARTS + 1):
        try:
            ray.init(address="local", num_cpus=cpus, include_dashboard=False, **quiet)
            return
        except Exception as error:  # noqa: BLE001  (Ray raises plain Exception when it runs out of time)
            ray.shutdown()
            if attempt == STARTS:
                reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
                raise PipelineError(f"Ray could not be started, in {STARTS} attempts: {reason}") from None


def _knock(address: str) -> None:
    """Tries a connection to the cluster first: Ray itself takes minutes to find that nobody is there."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if host and port.isdigit():
        socket.create_connection((host.strip("[]"), int(port)), timeout=5).close()


def places(ray: Any, cpus: float, gpus: float) -> int:
    """How many workers of this size fit the cluster at once; at least one."""
    have = ray.cluster_resources()
    fits = [have.get("CPU", 0.0) / cpus] if cpus else []
    if gpus:
        fits.append(have.get("GPU", 0.0) / gpus)
    return max(1, int(min(fits, default=1.0)))
