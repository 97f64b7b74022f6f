from __future__ import annotations

import time
import uuid

import numpy as np
import pytest
from tests.weights.conftest import same

from assay.errors import UsageError
from assay.weights.remotes import lease as leases
from assay.weights.remotes.bucket import COLLECTOR, WRITERS, BucketRemote, collect_bucket
from assay.weights.remotes.lease import Lease, LostLease, await_end
from assay.weights.remotes.open_remote import open_remote
from assay.weights.transfer import clone, push


@pytest.fixture
def url():
    return f"memory://{uuid.uuid4().hex}"


@pytest.fixture
def pushed(repo, url):
    repo.commit({"a": np.arange(2000, dtype=np.float32)}, "first")
    push(repo, url)
    remote = open_remote(url)
    assert isinstance(remote, BucketRemote)
    return remote


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(leases, "EXPIRY_S", 0.4)
    monkeypatch.setattr(leases, "RENEWAL_S", 0.05)
    monkeypatch.setattr(leases, "_LOOK_S", 0.01)


def test_a_collector_takes_only_what_nothing_leads_to(repo, pushed, url, tmp_path):
    base = repo.resolve("main")
    repo.commit({"a": np.full(2000, 7, np.float32)}, "passing")
    push(repo, url)
    repo.branch("main", base)
    push(repo, url, force=True)
    done = collect_bucket(pushed)
    assert (done.commits_removed, done.tensors_removed, done.packs_before, done.packs_after) == (1, 1, 2, 1)
    assert same(clone(url, tmp_path / "copy").checkout("main"), repo.checkout("main"))
    assert collect_bucket(pushed).tensors_removed == 0


def test_the_mark_of_a_dead_writer_holds_a_collector_up_no_longer_than_it_lasts(pushed, quick):
    pushed.files.create(b"somebody 1\n", WRITERS, "dead")
    collect_bucket(pushed)
    assert pushed.files.names(WRITERS) == set()


def test_the_mark_of_a_dead_collector_holds_a_push_up_no_longer_than_it_lasts(repo, pushed, url, quick):
    pushed.files.create(b"somebody 1\n", *COLLECTOR)
    repo.commit({"a": np.zeros(5, np.float32)}, branch="other")
    push(repo, url, "other")
    assert pushed.references().branches["other"] == repo.resolve("other")


def test_the_mark_of_a_living_writer_is_waited_for(pushed, quick):
    with pushed.writing():
        (name,) = pushed.files.names(WRITERS)
        with pytest.raises(UsageError, match="another process is writing"):
            await_end(pushed.files, 1.0, WRITERS, name)
        assert pushed.files.names(WRITERS) == {name}


def test_who_was_taken_for_dead_changes_nothing(repo, pushed):
    before = pushed.references()
    with pytest.raises(LostLease), pushed.writing():
        (name,) = pushed.files.names(WRITERS)
        pushed.files.remove(WRITERS, name)
        pushed.change(lambda now: now.with_branch("late", before.branches["main"]))
    assert pushed.references() == before


def test_a_collector_shuts_out_who_read_before_it(pushed):
    version = pushed.log.newest()
    pushed.fence()
    assert not pushed.log.follow(version, version.references)


def test_a_version_that_was_taken_and_forgotten_is_not_taken_again(pushed):
    old = pushed.log.newest()
    for _ in range(40):
        pushed.fence()
    pushed.log.forget_old()
    newest = pushed.log.newest()
    assert not pushed.log.follow(old, old.references.with_branch("lost", "0" * 48))
    assert pushed.log.newest() == newest


def test_a_push_that_lost_its_lease_begins_again(repo, pushed, url, monkeypatch):
    repo.commit({"a": np.zeros(5, np.float32)}, branch="other")
    write, lost = BucketRemote.write_commit, []

    def interrupted(self, data, commit_id):
        if not lost:
            lost.append(commit_id)
            for name in self.files.names(WRITERS):
                self.files.remove(WRITERS, name)
        write(self, data, commit_id)

    monkeypatch.setattr(BucketRemote, "write_commit", interrupted)
    push(repo, url, "other")
    assert lost
    assert pushed.references().branches["other"] == repo.resolve("other")


def test_a_lease_is_renewed_while_its_owner_lives(pushed, quick):
    lease = Lease(pushed.files, WRITERS, "mine")
    assert lease.take()
    assert not Lease(pushed.files, WRITERS, "mine").take()
    with lease:
        first = pushed.files.read(WRITERS, "mine")
        until = time.monotonic() + 30
        while pushed.files.read(WRITERS, "mine") == first and time.monotonic() < until:
            time.sleep(0.01)
        assert pushed.files.read(WRITERS, "mine") != first
    assert pushed.files.names(WRITERS) == set()
