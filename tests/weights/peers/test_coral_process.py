"""The conversation with coral's process, held with a stand-in, since coral itself is not in the environment of the
tests. The stand-in speaks the same lines and keeps tensors in memory.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from assay.errors import DataError
from assay.weights.peers import coral
from assay.weights.peers.coral import CoralStore

STAND_IN = """
import json, shutil, sys
print(json.dumps({"ready": True}), flush=True)
versions = {}
for line in sys.stdin:
    request = json.loads(line)
    if request["do"] == "commit" and request["message"] == "die":
        sys.exit(3)
    if request["do"] == "commit" and request["message"] == "refuse":
        reply = {"error": "ValueError: no"}
    elif request["do"] == "commit":
        ref = str(len(versions))
        shutil.copy(request["file"], request["path"] + "/" + ref)
        versions[ref] = request["table"]
        reply = {"ref": ref, "cpu_s": 0.25}
    elif request["do"] == "load":
        shutil.copy(request["path"] + "/" + request["ref"], request["file"])
        table = [["w", "void16", *row[2:]] if row[0] == "bf" else row for row in versions[request["ref"]]]
        reply = {"table": table, "cpu_s": 0.5}
    else:
        reply = {"cpu_s": 0.0}
    print(json.dumps(reply), flush=True)
"""


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[CoralStore]:
    worker = tmp_path / "worker.py"
    worker.write_text(STAND_IN)
    monkeypatch.setattr(coral, "WORKER", worker)
    process = coral.CoralProcess(Path(sys.executable))
    monkeypatch.setattr(coral, "coral_process", lambda: process)
    yield CoralStore(tmp_path / "repository")
    process.end()


def test_tensors_go_there_and_back(store: CoralStore) -> None:
    weights = {"w": np.arange(12, dtype=np.float32).reshape(3, 4).T, "b": np.array([True])}
    found = store.load(store.commit(weights))
    assert all(found[name].tobytes() == tensor.tobytes() for name, tensor in weights.items())
    assert found["w"].shape == (4, 3)


def test_cpu_time_is_what_the_process_says(store: CoralStore) -> None:
    store.load(store.commit({"w": np.arange(3)}))
    assert store.cpu_seconds() == 0.75


def test_a_nameless_dtype_stays_visible(store: CoralStore) -> None:
    ref = store.commit({"bf": np.arange(3, dtype=np.uint16)})
    assert store.load(ref)["w"].dtype == np.dtype("V2")


def test_its_errors_are_answers(store: CoralStore) -> None:
    with pytest.raises(DataError, match="coral-ml: ValueError: no"):
        store.commit({"w": np.arange(3)}, "refuse")
    assert store.load(store.commit({"w": np.arange(3)})).keys() == {"w"}


def test_its_death_is_one_message(store: CoralStore) -> None:
    with pytest.raises(DataError, match="ended with code 3"):
        store.commit({"w": np.arange(3)}, "die")
