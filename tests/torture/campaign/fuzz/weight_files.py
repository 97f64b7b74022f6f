"""Model files and repositories of weights with damaged bytes, in every command that reads them, local and remote."""

from __future__ import annotations

import io
import json
import random
import shutil
import struct
import tempfile
import zipfile
from collections import Counter
from collections.abc import Sequence
from functools import cache, partial
from pathlib import Path

import numpy as np
from readings import assay, tried

from assay.weights.repository import Repository
from assay.weights.transfer import push
from campaign.damage import damaged_bytes, damaged_json, packed, unpacked
from campaign.fuzz.pickles import damaged_pickle
from campaign.kind import Case, Trial

HEADER = {
    "__metadata__": {"format": "pt"},
    "a": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]},
    "b": {"dtype": "BF16", "shape": [4], "data_offsets": [24, 32]},
}
_STORAGE = b"(X\x07\0\0\0storagectorch\nFloatStorage\nX\x01\0\0\x000X\x03\0\0\0cpuK\x04tQ"
TENSOR = (
    b"\x80\x02}X\x01\0\0\0actorch._utils\n_rebuild_tensor_v2\n(" + _STORAGE + b"K\0K\x02K\x02\x86K\x02K\x01\x86\x89"
    b"ccollections\nOrderedDict\n)RtRs."
)
"""A PyTorch file's `data.pkl`: one tensor of 2 × 2."""


class ModelFiles:
    name, share, seconds = "models", 1.0, 60.0

    def draw(self, rng: random.Random) -> Case:
        if rng.random() < 0.5:
            return {"file": "model.safetensors", "data": packed(_safetensors(rng))}
        return {"file": "model.pt", "data": packed(_torch(rng))}

    def attempt(self, case: Case, folder: Path) -> Trial:
        Repository.init(folder / "repo")
        path = folder / case["file"]
        path.write_bytes(unpacked(case["data"]))
        trial = Trial(Counter({case["file"]: 1}))
        words = ("weights", "import", str(folder / "repo"), str(path), "-m", "x")
        trial.found += _findings("import", words)
        trial.found += [
            f"verify: {answer}" for answer in [assay("weights", "verify", str(folder / "repo"))] if answer.code
        ]
        return trial


class DamagedRepositories:
    name, share, seconds = "repositories", 1.5, 60.0

    def draw(self, rng: random.Random) -> Case:
        files = _repository_files()
        file = rng.choice(sorted(files))
        # A file of references or of configuration is text; the rest is binary.
        is_text = file.endswith((".json", "HEAD", "refs")) or files[file][:1] == b"{"
        try:
            data = damaged_json(json.loads(files[file]), rng) if is_text else damaged_bytes(files[file], rng)
        except ValueError:
            data = damaged_bytes(files[file], rng)
        return {"file": file, "data": packed(data), "commands": rng.sample(list(_commands(Path())), 4)}

    def attempt(self, case: Case, folder: Path) -> Trial:
        repository = folder / "repo"
        for file, data in _repository_files().items():
            (repository / file).parent.mkdir(parents=True, exist_ok=True)
            (repository / file).write_bytes(data)
        damaged = repository / case["file"]
        damaged.chmod(0o644)
        damaged.write_bytes(unpacked(case["data"]))
        trial = Trial()
        for command, words in _commands(folder).items():
            if command in case.get("commands", _commands(folder)):
                trial.tried["commands"] += 1
                trial.found += _findings(command, words)
                for made in (folder / "copy", folder / "other"):
                    shutil.rmtree(made, ignore_errors=True)
        return trial


def _commands(folder: Path) -> dict[str, tuple[str, ...]]:
    """`main~1` and `main` differ in one tensor; `other` is another branch."""
    repository = str(folder / "repo")
    return {
        "log": ("weights", "log", repository),
        "log version": ("weights", "log", repository, "main"),
        "stats": ("weights", "stats", repository),
        "verify": ("weights", "verify", repository),
        "diff": ("weights", "diff", repository, "main", "other"),
        "branch": ("weights", "branch", repository),
        "checkout": ("weights", "checkout", repository, "main", str(folder / "out.safetensors")),
        "merge": ("weights", "merge", repository, "other"),
        "gc": ("weights", "gc", repository),
        "clone": ("weights", "clone", repository, str(folder / "copy")),
        "push": ("weights", "push", repository, str(folder / "other")),
    }


@cache
def _repository_files() -> dict[str, bytes]:
    with tempfile.TemporaryDirectory() as folder:
        repository = Repository.init(Path(folder) / "repo")
        rng = np.random.default_rng(0)
        first = {"a": rng.normal(size=(40, 50)).astype(np.float32), "b": np.arange(300, dtype=np.int64)}
        repository.commit(first, "first")
        repository.commit({**first, "a": first["a"] + np.float32(1e-3)}, "second")
        repository.commit({"c": np.ones(100, np.float16)}, "third", branch="other")
        push(repository, str(Path(folder) / "remote"), "main")
        root = Path(folder) / "repo"
        return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def _findings(command: str, words: Sequence[str]) -> list[str]:
    found = tried(command, partial(assay, *words))
    return [str(found)] if found else []


def _safetensors(rng: random.Random) -> bytes:
    header = damaged_json(HEADER, rng)
    length = len(header) if rng.random() < 0.9 else rng.choice((0, 1, 2**31, 2**63, 2**64 - 1))
    made = struct.pack("<Q", length) + header + bytes(32)
    return damaged_bytes(made, rng) if rng.random() < 0.2 else made


def _torch(rng: random.Random) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("archive/data.pkl", damaged_pickle(TENSOR, rng))
        archive.writestr("archive/data/0", bytes(rng.choice((16, 16, 16, 0, 15, 64))))
    made = out.getvalue()
    return damaged_bytes(made, rng) if rng.random() < 0.2 else made
