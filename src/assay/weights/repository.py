from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from assay.errors import DataError, UsageError
from assay.weights.commit import Commit, Diff, TensorEntry
from assay.weights.config import RepositoryConfig, repository_config
from assay.weights.dtype import ELEMENT_TYPES, bits_of, element_type, from_bits
from assay.weights.store import StoreStats, Tensor


class Repository:
    """Versions of models, exact to the bit."""

    def __init__(self, path: Path, config: RepositoryConfig) -> None:
        self.path = path
        self.config = config
        self._staged: dict[str, Tensor] = {}

    @classmethod
    def init(cls, path: str | Path, config: RepositoryConfig | Mapping[str, Any] | str | None = None) -> Repository:
        path = Path(path)
        if (path / "head").exists():
            raise UsageError(f"{path} is a repository already; open it, or choose another folder")
        repo = cls(path, repository_config(config))
        for folder in ("objects", "commits", "branches", "tags"):
            (path / folder).mkdir(parents=True, exist_ok=True)
        (path / "config.json").write_text(json.dumps(repo.config.as_dict()))
        (path / "head").write_text("main")
        return repo

    @classmethod
    def open(cls, path: str | Path, config: RepositoryConfig | Mapping[str, Any] | str | None = None) -> Repository:
        path = Path(path)
        if not (path / "head").exists():
            raise UsageError(f"{path} is not a weight repository; make one with: assay weights init {path}")
        kept = repository_config(json.loads((path / "config.json").read_text()))
        return cls(path, repository_config(config, base=kept))

    @property
    def head(self) -> str:
        return (self.path / "head").read_text()

    def save(self, name: str, tensor: Tensor) -> None:
        self._staged[name] = tensor

    def commit(self, tensors: Mapping[str, Tensor] | None = None, message: str = "", branch: str | None = None) -> str:
        branch = branch or self.head
        tip = self.path / "branches" / branch
        tip.parent.mkdir(exist_ok=True)
        parent = tip if tip.exists() else self.path / "branches" / self.head
        parents = [parent.read_text()] if parent.exists() else []
        entries = []
        for name, tensor in sorted({**self._staged, **(tensors or {})}.items()):
            data = bits_of(tensor).tobytes()
            digest = blake2b(data, digest_size=32).hexdigest()
            target = self.path / "objects" / digest
            if not target.exists():
                target.write_bytes(data)
            entries.append([name, element_type(tensor.dtype).name, list(tensor.shape), digest])
        self._staged = {}
        body = {"parents": parents, "message": message, "branch": branch, "created_at": time.time(), "entries": entries}
        text = json.dumps(body)
        commit_id = blake2b(text.encode(), digest_size=32).hexdigest()
        (self.path / "commits" / commit_id).write_text(text)
        tip.write_text(commit_id)
        return commit_id

    def resolve(self, ref: str) -> str:
        for folder in ("branches", "tags"):
            if (self.path / folder / ref).is_file():
                return (self.path / folder / ref).read_text()
        found = [path.name for path in (self.path / "commits").glob(ref + "*")]
        if len(found) != 1:
            raise UsageError(f"{ref!r} is not a branch, a tag or a commit of {self.path}; see: assay weights log")
        return found[0]

    def show(self, ref: str) -> Commit:
        commit_id = self.resolve(ref)
        body = json.loads((self.path / "commits" / commit_id).read_text())
        entries = tuple(TensorEntry(n, d, tuple(s), h) for n, d, s, h in body["entries"])
        return Commit(commit_id, tuple(body["parents"]), body["message"], body["branch"], body["created_at"], entries)

    def checkout(self, ref: str, names: Iterable[str] | None = None) -> dict[str, Tensor]:
        wanted = None if names is None else set(names)
        out = {}
        for entry in self.show(ref).entries:
            if wanted is None or entry.name in wanted:
                kind = ELEMENT_TYPES[entry.dtype]
                bits = np.fromfile(self.path / "objects" / entry.digest, dtype=kind.bit_view)
                out[entry.name] = from_bits(bits, kind, entry.shape)
        if wanted is not None and wanted - set(out):
            raise DataError(f"{ref} has no tensor {', '.join(sorted(wanted - set(out)))}")
        return out

    load = checkout

    def log(self, ref: str | None = None) -> list[Commit]:
        tip = self.path / "branches" / self.head
        todo = [self.resolve(ref)] if ref else [tip.read_text()] if tip.exists() else []
        found: dict[str, Commit] = {}
        while todo:
            commit_id = todo.pop()
            if commit_id not in found:
                found[commit_id] = self.show(commit_id)
                todo.extend(found[commit_id].parents)
        return sorted(found.values(), key=lambda commit: commit.created_at, reverse=True)

    def branch(self, name: str, ref: str | None = None) -> None:
        (self.path / "branches" / name).write_text(self.resolve(ref or self.head))

    def switch(self, name: str) -> None:
        if not (self.path / "branches" / name).exists():
            raise UsageError(f"there is no branch {name!r}; make it with: assay weights branch {name}")
        (self.path / "head").write_text(name)

    def tag(self, name: str, ref: str | None = None) -> None:
        (self.path / "tags" / name).write_text(self.resolve(ref or self.head))

    def diff(self, a: str, b: str) -> Diff:
        left = {entry.name: entry for entry in self.show(a).entries}
        right = {entry.name: entry for entry in self.show(b).entries}
        both = sorted(left.keys() & right.keys())
        return Diff(
            added=tuple(sorted(right.keys() - left.keys())),
            removed=tuple(sorted(left.keys() - right.keys())),
            changed=tuple(name for name in both if left[name] != right[name]),
            unchanged=tuple(name for name in both if left[name] == right[name]),
        )

    def stats(self) -> StoreStats:
        commits = [self.show(path.name) for path in (self.path / "commits").iterdir()]
        entries = [entry for commit in commits for entry in commit.entries]
        unique = {(entry.digest, entry.dtype, entry.shape) for entry in entries}
        logical = sum(entry.size * ELEMENT_TYPES[entry.dtype].itemsize for entry in entries)
        stored = sum(path.stat().st_size for path in self.path.rglob("*") if path.is_file())
        return StoreStats(logical, stored, len(commits), len(entries), len(unique), 0, len(entries) - len(unique))
