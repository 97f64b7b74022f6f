"""Branches, tags, merges, queries, collection; and sequences of all of them against a plain dictionary."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, rule
from tests.weights.conftest import same

from assay.errors import UsageError
from assay.weights.repository import Repository
from assay.weights.repository_config import SETTINGS
from assay.weights.versions.merge import MergeConflict


def f(*values):
    return np.array(values, np.float32)


def test_log_branch_switch_tag_diff(repo):
    first = repo.commit({"a": f(1), "b": f(2)}, "one")
    repo.branch("side")
    repo.switch("side")
    second = repo.commit({"a": f(1), "b": f(3), "c": f(4)}, "two")
    repo.tag("v1")
    assert [c.message for c in repo.log()] == ["two", "one"]
    assert [c.id for c in repo.log("main")] == [first]
    diff = repo.diff("main", "v1")
    assert (diff.added, diff.removed, diff.changed, diff.unchanged) == (("c",), (), ("b",), ("a",))
    assert repo.resolve(second[:10]) == second
    assert repo.show("v1").parents == (first,)
    with pytest.raises(UsageError, match="tags do not move"):
        repo.tag("v1", "main")
    with pytest.raises(UsageError, match="not a branch, a tag or a commit"):
        repo.checkout("nowhere")


def test_merge_takes_each_side_and_drops_nothing(repo):
    repo.commit({"a": f(1), "b": f(2), "c": f(3), "gone": f(9)})
    repo.branch("side")
    repo.commit({"a": f(10), "b": f(2), "c": f(3), "gone": f(9), "ours": f(7)})
    repo.commit({"a": f(1), "b": f(20), "c": f(3), "theirs": f(8)}, branch="side")
    merged = repo.merge("side")
    expected = {"a": f(10), "b": f(20), "c": f(3), "ours": f(7), "theirs": f(8)}
    assert same(repo.checkout(merged), expected)
    assert len(repo.show(merged).parents) == 2
    assert repo.merge("side") == merged


def test_merge_conflicts_are_named_or_decided(repo):
    repo.commit({"a": f(1), "b": f(1)})
    repo.branch("side")
    repo.commit({"a": f(2), "b": f(1)})
    repo.commit({"a": f(3), "b": f(4)}, branch="side")
    with pytest.raises(MergeConflict, match="both sides changed a"):
        repo.merge("side")
    with pytest.raises(UsageError, match="known: refuse, ours, theirs"):
        repo.merge("side", strategy="average")
    head = repo.resolve("main")
    assert same(repo.checkout(repo.merge("side", strategy="ours")), {"a": f(2), "b": f(4)})
    repo.branch("again", head)
    repo.switch("again")
    assert same(repo.checkout(repo.merge("side", strategy="theirs")), {"a": f(3), "b": f(4)})


def test_merge_fast_forwards(repo):
    repo.commit({"a": f(1)})
    repo.branch("side")
    tip = repo.commit({"a": f(2)}, branch="side")
    assert repo.merge("side") == tip
    assert repo.resolve("main") == tip


def test_find_and_single_tensors(repo, rng):
    model = {"layers.0.w": rng.standard_normal((4, 4)).astype(np.float32), "layers.1.w": f(1), "n": np.arange(3)}
    repo.commit(model)
    assert [e.name for e in repo.find("main", "layers.*")] == ["layers.0.w", "layers.1.w"]
    assert [e.name for e in repo.find("main", shape=(4, 4))] == ["layers.0.w"]
    assert [e.name for e in repo.find("main", dtype="int64")] == ["n"]
    assert same({"x": repo.tensor("main", "n")}, {"x": model["n"]})
    with pytest.raises(UsageError, match="unknown tensor 'missing' of main"):
        repo.checkout("main", ["missing"])


def test_save_stages_until_commit(repo):
    repo.save("a", f(1, 2))
    repo.save("b", f(3))
    assert repo.log() == []
    assert same(repo.load(repo.commit({"c": f(4)})), {"a": f(1, 2), "b": f(3), "c": f(4)})


@pytest.mark.parametrize("recluster", [False, True])
def test_gc_drops_what_nothing_leads_to(repo, rng, recluster):
    base = rng.standard_normal(20_000).astype(np.float32)
    kept = repo.commit({"w": base})
    for number in range(4):
        repo.commit({"w": rng.standard_normal(20_000).astype(np.float32)}, branch=f"b{number}")
    near = repo.commit({"w": base * np.float32(1.0001)}, branch="near")
    for number in range(4):
        repo.delete_branch(f"b{number}")
    done = repo.gc(recluster=recluster)
    assert done.commits_removed == 4
    assert done.tensors_removed == 4
    assert done.bytes_after < done.bytes_before / 2
    assert done.packs_after < done.packs_before
    fresh = Repository.open(repo.path)
    assert fresh.verify().passed
    assert same(fresh.checkout(kept), {"w": base})
    assert same(fresh.checkout(near), {"w": base * np.float32(1.0001)})


def test_reclustering_finds_the_family_that_names_hid(tmp_path, rng):
    families = [rng.standard_normal(20_000).astype(np.float32) for _ in range(3)]
    repo = Repository.init(tmp_path / "r", {"delta_encoding": "NONE"})
    for number in range(9):
        step = np.float32(1e-3) * rng.standard_normal(20_000).astype(np.float32)
        repo.commit({f"name-{number}": families[number % 3] + step}, branch=f"b{number}")
    before = repo.stats()
    assert before.deltas == 0
    again = Repository.open(tmp_path / "r", {"delta_encoding": "AUTO"})
    again.gc(recluster=True)
    after = again.stats()
    assert after.deltas == 6
    # Three whole at 1.2 and six at the 1.87 that a step of 1e-3 * sqrt(2) leaves, against nine whole: 0.76.
    assert after.stored_bytes < 0.78 * before.stored_bytes
    assert again.verify().passed


def test_chains_are_bounded(tmp_path, rng):
    repo = Repository.init(tmp_path / "r", {"longest_chain": 3})
    value = rng.standard_normal(5000).astype(np.float32)
    models = []
    for _ in range(10):
        value = value + np.float32(1e-3) * rng.standard_normal(5000).astype(np.float32)
        models.append({"w": value})
    ids = [repo.commit(model) for model in models]
    assert repo.stats().longest_chain <= 3
    assert all(same(repo.checkout(i), m) for i, m in zip(ids, models, strict=True))


class RepositoryMachine(RuleBasedStateMachine):
    """Commits, branches, merges, deletions, collections and reopening, against a dictionary of what was given."""

    commits = Bundle("commits")

    @initialize(setting=st.sampled_from(SETTINGS))
    def begin(self, setting):
        self.folder = Path(tempfile.mkdtemp())
        self.repo = Repository.init(self.folder / "r", setting)
        self.given: dict[str, dict] = {}
        self.rng = np.random.default_rng(0)
        self.names = 0

    def teardown(self):
        if hasattr(self, "folder"):
            assert self.repo.verify().problems == ()
            shutil.rmtree(self.folder)

    def _model(self, start, sizes, dtype):
        model = {}
        for number, size in enumerate(sizes):
            name = f"w{number}"
            if start and name in start and start[name].size == size and start[name].dtype == dtype:
                bits = start[name].view(np.uint8).copy()
                bits[:: max(1, size // 3)] ^= 1
                model[name] = bits.view(dtype)
            else:
                model[name] = self.rng.integers(0, 256, size * np.dtype(dtype).itemsize, dtype=np.uint8).view(dtype)
        return model

    @rule(
        target=commits,
        sizes=st.lists(st.sampled_from([0, 1, 5, 300, 5000]), min_size=1, max_size=3),
        dtype=st.sampled_from([np.float32, np.float16, np.float64, np.int8]),
        branch=st.sampled_from(["main", "side", "other"]),
    )
    def commit(self, sizes, dtype, branch):
        tip = self.repo.references.branches.get(branch)
        model = self._model(self.given.get(tip), sizes, dtype)
        commit_id = self.repo.commit(model, branch=branch)
        self.given[commit_id] = model
        return commit_id

    @rule(commit_id=commits)
    def checkout(self, commit_id):
        if commit_id in self.given:
            assert same(self.repo.checkout(commit_id), self.given[commit_id])

    @rule(target=commits, commit_id=commits)
    def revert(self, commit_id):
        model = self.given.get(commit_id, {"w0": np.zeros(1, np.float32)})
        again = self.repo.commit(model)
        self.given[again] = model
        return again

    @rule(commit_id=commits)
    def branch_off(self, commit_id):
        if commit_id in self.given:
            self.names += 1
            self.repo.branch(f"b{self.names}", commit_id)

    @rule(strategy=st.sampled_from(["ours", "theirs"]))
    def merge(self, strategy):
        branches = self.repo.references.branches
        if "main" in branches and "side" in branches:
            merged = self.repo.merge("side", strategy=strategy)
            if merged not in self.given:
                sides = [self.given[parent] for parent in self.repo.show(merged).parents]
                out = self.repo.checkout(merged)
                for name, tensor in out.items():
                    assert any(name in s and same({"x": s[name]}, {"x": tensor}) for s in sides)
                self.given[merged] = out

    @rule(commit_id=consumes(commits))
    def forget_side(self, commit_id):
        if "other" in self.repo.references.branches:
            self.repo.delete_branch("other")

    @rule(recluster=st.booleans())
    def collect(self, recluster):
        self.repo.gc(recluster=recluster)
        left = self.repo.commits.ids()
        self.given = {commit_id: model for commit_id, model in self.given.items() if commit_id in left}

    @rule()
    def reopen(self):
        self.repo = Repository.open(self.folder / "r")

    @invariant()
    def tips_are_whole(self):
        for tip in self.repo.references.branches.values() if hasattr(self, "repo") else ():
            assert same(self.repo.checkout(tip), self.given[tip])


TestRepositoryMachine = RepositoryMachine.TestCase
TestRepositoryMachine.settings = settings(
    max_examples=25, stateful_step_count=20, deadline=None, suppress_health_check=list(HealthCheck)
)
TestRepositoryMachine.pytestmark = [pytest.mark.slow]  # type: ignore[attr-defined]
