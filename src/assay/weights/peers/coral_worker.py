"""Runs coral-ml in the environment that it is installed in; started by `CoralStore`, never imported by it.

Requests and replies are JSON lines; tensors travel in files, so that handing them over is not part of any time.
Every reply says the CPU and wall seconds that coral itself took.
"""

from __future__ import annotations

import json
import logging
import sys
import time
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
from coral import Repository, WeightTensor
from coral.core.weight_tensor import WeightMetadata


def read_tensors(table: list[list[Any]], file: str) -> dict[str, Any]:
    raw = np.fromfile(file, np.uint8) if Path(file).stat().st_size else np.empty(0, np.uint8)
    tensors = {}
    for name, dtype, shape, offset, size in table:
        # A copy: coral keeps what it is given, and a view would keep the whole file in memory.
        tensors[name] = raw[offset : offset + size].copy().view(_dtype(dtype)).reshape(shape)
    return tensors


def write_tensors(tensors: dict[str, Any], file: str) -> list[list[Any]]:
    table = []
    with Path(file).open("wb") as out:
        for name, tensor in tensors.items():
            table.append([name, tensor.dtype.name, list(tensor.shape), out.tell(), tensor.nbytes])
            out.write(np.ascontiguousarray(tensor).tobytes())
    return table


def _dtype(name: str) -> Any:
    return np.dtype(getattr(ml_dtypes, name)) if hasattr(ml_dtypes, name) else np.dtype(name)


def commit(repository: Any, request: dict[str, Any]) -> dict[str, Any]:
    tensors = read_tensors(request["table"], request["file"])
    cpu, wall = time.process_time(), time.perf_counter()
    weights = {
        name: WeightTensor(tensor, WeightMetadata(name=name, shape=tensor.shape, dtype=tensor.dtype))
        for name, tensor in tensors.items()
    }
    repository.stage_weights(weights)
    made = repository.commit(message=request["message"] or "version")
    return {"ref": made.commit_hash, "cpu_s": time.process_time() - cpu, "wall_s": time.perf_counter() - wall}


def load(repository: Any, request: dict[str, Any]) -> dict[str, Any]:
    names = request["names"]
    cpu, wall = time.process_time(), time.perf_counter()
    if names is None:
        weights = repository.get_all_weights(request["ref"])
    else:
        found = {name: repository.get_weight(name, request["ref"]) for name in names}
        weights = {name: weight for name, weight in found.items() if weight is not None}
    tensors = {name: weight.data for name, weight in weights.items()}
    spent = {"cpu_s": time.process_time() - cpu, "wall_s": time.perf_counter() - wall}
    return {"table": write_tensors(tensors, request["file"]), **spent}


def main() -> None:
    logging.disable(logging.CRITICAL)
    answer = {"commit": commit, "load": load}
    repositories: dict[str, Any] = {}
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        path = Path(request["path"])
        try:
            if request["do"] == "close":
                repositories.pop(str(path), None)
                reply: dict[str, Any] = {"cpu_s": 0.0}
            else:
                if str(path) not in repositories:
                    repositories[str(path)] = Repository(path, init=not (path / ".coral").exists())
                reply = answer[request["do"]](repositories[str(path)], request)
        except Exception as error:  # noqa: BLE001  whatever coral raises is its answer
            reply = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
