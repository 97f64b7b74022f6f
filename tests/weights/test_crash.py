"""A commit that is cut short anywhere leaves the last one whole: killed, or cut off from the disk."""

from __future__ import annotations

import os
import random
import shutil
import signal
import time
from pathlib import Path

import numpy as np
import pytest
from tests.weights.conftest import same

from assay.weights.repository import Repository
from assay.weights.repository_disk import RepositoryDisk


def model(number: int):
    rng = np.random.default_rng(number)
    base = np.random.default_rng(0).standard_normal(3000).astype(np.float32)
    return {
        "w": base + np.float32(1e-3 * number) * rng.standard_normal(3000).astype(np.float32),
        "b": rng.standard_normal(8).astype(np.float32),
        "frozen": base[:100],
    }


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_sigkill_at_random_points_of_200_commits(tmp_path):
    repo = Repository.init(tmp_path / "r")
    started = time.perf_counter()
    acknowledged = [(0, repo.commit(model(0)))]
    longest = 2.5 * (time.perf_counter() - started)
    chance = random.Random(7)
    killed = 0
    for number in range(1, 201):
        read_end, write_end = os.pipe()
        child = os.fork()
        if child == 0:
            os.write(write_end, Repository.open(tmp_path / "r").commit(model(number)).encode())
            os._exit(0)
        os.close(write_end)
        time.sleep(chance.uniform(0, longest))
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        killed += os.WIFSIGNALED(status)
        answer = os.read(read_end, 100).decode()
        os.close(read_end)
        if answer:
            acknowledged.append((number, answer))
        # On a busy machine commits take longer: about half are to be killed, whatever its load.
        longest *= 0.95 if answer else 1.05
        again = Repository.open(tmp_path / "r")
        assert again.verify().problems == ()
        last_number, last_id = acknowledged[-1]
        assert same(again.checkout(last_id), model(last_number))
        # A commit may have become durable just before it could say so; never is anything else on the branch.
        assert next(c.id for c in again.log() if c.id in {i for _, i in acknowledged}) == last_id
    assert killed >= 20
    assert len(acknowledged) >= 20
    for number, commit_id in acknowledged:
        assert same(again.checkout(commit_id), model(number))
    again.gc()
    assert again.verify().passed
    assert not list((tmp_path / "r" / "tmp").iterdir())


class RecordingDisk(RepositoryDisk):
    """Does what is asked and notes it."""

    def __init__(self) -> None:
        self.operations: list[tuple] = []

    def create(self, path):
        self.operations.append(("create", path))
        return super().create(path)

    def write(self, file, data):
        self.operations.append(("write", Path(file.name), bytes(data)))
        super().write(file, data)

    def sync(self, file):
        self.operations.append(("sync", Path(file.name)))
        super().sync(file)

    def rename(self, source, target):
        self.operations.append(("rename", source, target))
        super().rename(source, target)

    def sync_folder(self, folder):
        self.operations.append(("sync_folder", folder))
        super().sync_folder(folder)


class LostPower:
    """The files as a disk may have them after `operations`: what was not synced may be missing, cut or out of order."""

    def __init__(self, operations, chance: random.Random, cut: int | None = None) -> None:
        self.names: dict[Path, list] = {}
        contents: dict[Path, list] = {}
        for number, operation in enumerate(operations):
            what, path = operation[0], operation[1]
            later = operations[number + 1 :]
            if what == "create":
                contents[path] = []
                self.names[path] = contents[path]
            elif what == "write":
                data, kept = operation[2], ("sync", path) in [(o[0], o[1]) for o in later]
                if number == len(operations) - 1 and cut is not None:
                    contents[path].append(data[:cut])
                elif kept or chance.random() < 0.5:
                    contents[path].append(data)
                elif chance.random() < 0.5:
                    contents[path].append(bytes(len(data)))
                else:
                    contents[path].append(data[: chance.randrange(len(data) + 1)])
            elif what == "rename":
                target = operation[2]
                if ("sync_folder", target.parent) in [(o[0], o[1]) for o in later] or chance.random() < 0.5:
                    self.names[target] = contents[path]
                    self.names.pop(path, None)

    def apply(self) -> None:
        for path, parts in self.names.items():
            path.write_bytes(b"".join(parts))


@pytest.mark.slow
def test_replayed_writes_truncated_everywhere_and_reordered_between_syncs(tmp_path):
    Repository.init(tmp_path / "r").commit(model(0))
    before = tmp_path / "before"
    shutil.copytree(tmp_path / "r", before)
    disk = RecordingDisk()
    second = Repository.open(tmp_path / "r", disk=disk).commit(model(1))
    operations = disk.operations
    assert [o[0] for o in operations].count("sync") == 3
    assert [o[0] for o in operations].count("rename") == 3
    chance = random.Random(3)
    states = [(number, None) for number in range(len(operations) + 1) for _ in range(12)]
    for number, operation in enumerate(operations):
        if operation[0] == "write":
            points = range(len(operation[2])) if len(operation[2]) < 400 else range(0, len(operation[2]), 97)
            states += [(number + 1, cut) for cut in points]
    for length, cut in states:
        shutil.rmtree(tmp_path / "r")
        shutil.copytree(before, tmp_path / "r")
        LostPower(operations[:length], chance, cut).apply()
        repo = Repository.open(tmp_path / "r")
        found = repo.verify()
        assert found.problems == (), (length, cut)
        tip = repo.checkout("main")
        assert same(tip, model(0)) or same(tip, model(1))
        if length == len(operations):
            assert repo.resolve("main") == second
            assert same(tip, model(1))


def test_a_failed_commit_leaves_nothing_behind(tmp_path):
    repo = Repository.init(tmp_path / "r")
    first = repo.commit(model(0))
    bad = {**model(1), "x": np.array([object()])}
    with pytest.raises(Exception, match="cannot be stored"):
        repo.commit(bad)
    assert not list((tmp_path / "r" / "tmp").iterdir())
    assert repo.resolve("main") == first
    repo.commit(model(2))
    assert repo.verify().passed


def test_readers_beside_a_writer(tmp_path):
    repo = Repository.init(tmp_path / "r")
    ids = [repo.commit(model(0))]
    reader = Repository.open(tmp_path / "r")
    for number in range(1, 5):
        ids.append(repo.commit(model(number)))
        assert same(reader.checkout("main"), model(number))
    repo.gc()
    assert all(same(reader.checkout(i), model(n)) for n, i in enumerate(ids))


def test_two_writers_take_turns(tmp_path):
    repo = Repository.init(tmp_path / "r")
    repo.commit(model(0))
    children = []
    for writer in range(3):
        child = os.fork()
        if child == 0:
            mine = Repository.open(tmp_path / "r")
            for number in range(5):
                mine.commit(model(10 * writer + number), message=f"{writer}.{number}")
            os._exit(0)
        children.append(child)
    assert all(os.waitpid(child, 0)[1] == 0 for child in children)
    assert len(repo.log()) == 16
    assert repo.verify().passed


@pytest.mark.slow
def test_readers_beside_a_collector(tmp_path):
    """While another process commits, repacks and collects, every read is whole."""
    repo = Repository.init(tmp_path / "r")
    first = repo.commit(model(0))
    child = os.fork()
    if child == 0:
        mine = Repository.open(tmp_path / "r")
        for number in range(1, 11):
            mine.commit(model(number), branch="b")
            mine.gc(recluster=number % 4 == 0)
        os._exit(0)
    reads = 0
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        reader = repo if reads % 2 else Repository.open(tmp_path / "r")
        assert same(reader.checkout(first), model(0))
        reads += 1
    assert reads > 5
    assert repo.verify().passed


def test_saved_tensors_can_be_discarded(tmp_path):
    repo = Repository.init(tmp_path / "r")
    repo.save("w", np.ones(3))
    repo.discard()
    assert not list((tmp_path / "r" / "tmp").iterdir())
    assert list(repo.checkout(Repository.open(tmp_path / "r").commit({"x": np.ones(2)}))) == ["x"]
