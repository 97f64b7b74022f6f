from __future__ import annotations

import uuid

import numpy as np
import pytest
from tests.weights.conftest import same

from assay.errors import DataError, UsageError
from assay.weights.codec.codec_methods import FORMAT
from assay.weights.repository import Repository
from assay.weights.transfer import clone, pull, push
from assay.weights.versions.commit import seal


@pytest.fixture(params=["memory", "folder"])
def url(request, tmp_path):
    return f"memory://{uuid.uuid4().hex}" if request.param == "memory" else str(tmp_path / "remote")


def models(rng):
    base = rng.standard_normal(50_000).astype(np.float32)
    return [{"w": base, "b": base[:10]}, {"w": base + np.float32(1e-3), "b": base[:10]}]


def test_only_what_is_missing_is_carried(repo, rng, url, tmp_path):
    first, second = models(rng)
    repo.commit(first)
    sent = push(repo, url)
    assert (sent.commits, sent.tensors) == (1, 2)
    repo.tag("v1")
    tip = repo.commit(second)
    repo.gc()
    again = push(repo, url)
    assert (again.commits, again.tensors) == (1, 1)
    assert again.bytes < 0.6 * second["w"].nbytes
    assert push(repo, url) == type(sent)(0, 0, 0)
    copy = clone(url, tmp_path / "copy")
    assert same(copy.checkout("main"), second)
    assert same(copy.checkout("v1"), first)
    assert copy.stats().deltas == 1
    assert copy.verify().passed
    copy.commit({"w": second["w"] * 2})
    assert push(copy, url).tensors == 1
    got = pull(repo, url)
    assert (got.commits, got.tensors) == (1, 1)
    assert same(repo.checkout("main"), {"w": second["w"] * 2})
    assert repo.show("main").parents == (tip,)


def test_commits_of_others_are_not_dropped(repo, rng, url, tmp_path):
    first, second = models(rng)
    repo.commit(first)
    push(repo, url)
    other = clone(url, tmp_path / "other")
    other.commit(second)
    push(other, url)
    repo.commit({"w": first["w"] * 3, "b": first["b"]})
    with pytest.raises(UsageError, match="pull and merge first"):
        push(repo, url)
    with pytest.raises(UsageError, match="assay weights merge"):
        pull(repo, url)
    theirs = other.resolve("main")
    repo.merge(theirs, strategy="ours")
    push(repo, url)
    assert pull(other, url).commits == 2
    assert same(other.checkout("main"), {"w": first["w"] * 3, "b": first["b"]})


def test_a_remote_that_lies_is_refused(repo, rng, tmp_path):
    first, _ = models(rng)
    repo.commit(first)
    liar = Repository.init(tmp_path / "liar")
    commit_id = liar.commit({"w": np.zeros(50_000, np.float32), "b": first["b"]})
    # The liar's pack under the digests of the honest repository: checksums fit, contents do not.
    from assay.weights.packs.pack_files import PackWriter
    from assay.weights.repository_disk import RepositoryDisk

    digest = bytes.fromhex(liar.show(commit_id).entries[1].digest)
    (old,) = (tmp_path / "liar" / "packs").iterdir()
    writer = PackWriter(RepositoryDisk(), tmp_path / "liar" / "tmp", tmp_path / "liar" / "packs")
    for record in liar.objects.records():
        wrong = next(r for r in repo.objects.records() if r.shape == record.shape)
        source = repo if record.digest == digest else liar
        kept = wrong if record.digest == digest else record
        places = tuple(
            writer.add_chunk(c.method, source.objects.read_stored_chunk(kept.digest, n))
            for n, c in enumerate(kept.chunks)
        )
        writer.add_record(kept._replace(digest=record.digest, chunks=places))
    writer.finish()
    old.unlink()
    victim = Repository.init(tmp_path / "victim")
    with pytest.raises(DataError, match="not what its digest says"):
        pull(victim, str(tmp_path / "liar"))
    assert victim.references.branches == {}
    assert not list((tmp_path / "victim" / "packs").iterdir())


def test_places_that_are_no_repository(repo, tmp_path):
    with pytest.raises(UsageError, match="not a weight repository"):
        pull(repo, str(tmp_path / "nothing"))
    with pytest.raises(UsageError, match="not a weight repository"):
        clone(str(tmp_path / "nothing"), tmp_path / "x")
    with pytest.raises(UsageError, match="cannot be reached"):
        push(repo, "nonsense://x/y")
    with pytest.raises(UsageError, match="unknown branch 'main'"):
        push(repo, str(tmp_path / "somewhere"))


def test_another_format_is_refused_before_anything_is_read(tmp_path):
    other = tmp_path / "other"
    Repository.init(other).commit({"a": np.ones(3, np.float32)})
    (other / "format").write_bytes(seal({"format": 1, "config": {}}))
    mine = Repository.init(tmp_path / "mine")
    mine.commit({"b": np.zeros(3, np.float32)})
    for attempt in (
        lambda: Repository.open(other),
        lambda: clone(str(other), tmp_path / "new"),
        lambda: pull(mine, str(other)),
        lambda: push(mine, str(other)),
    ):
        with pytest.raises(UsageError, match=f"has format 1; this version of Assay reads format {FORMAT}, and nothing"):
            attempt()
    assert not (tmp_path / "new").exists()
