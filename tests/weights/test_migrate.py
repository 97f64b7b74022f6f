"""Older formats are brought to the present one; killed at any moment, a repository is whole in one or the other."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path
from shutil import copytree

import pytest
from tests.weights.golden.__main__ import HERE
from tests.weights.golden.digests import digests_of
from tests.weights.golden.read_and_write import differences, expected
from tests.weights.golden.repository_text import restore

from assay.cli.main import main
from assay.errors import DataError, UsageError
from assay.weights.codec.codec_methods import FORMAT
from assay.weights.migration import migrate
from assay.weights.packs.object_store import ObjectStore
from assay.weights.repository import Repository
from assay.weights.repository_config import MIGRATIONS, Migration
from assay.weights.repository_disk import RepositoryDisk
from assay.weights.versions.commit import seal, unseal

OLD, ENDING, CASE = 3, ".pack3", "small-lanes"


class XoredPacks:
    """The packs of a format of the tests' own: every byte of a pack of format 5 inverted."""

    def __init__(self, packs: Path) -> None:
        plain = packs.parent / "plain-for-the-test"
        plain.mkdir(exist_ok=True)
        for path in packs.glob(f"*{ENDING}"):
            (plain / f"{path.stem}.pack").write_bytes(inverted(path.read_bytes()))
        self._store = ObjectStore(plain, 1 << 26)

    def read(self, digest: bytes):
        return self._store.read(digest)


KNOWN = {**MIGRATIONS, OLD: Migration("packs that are not inverted", ENDING, XoredPacks)}


def inverted(data: bytes) -> bytes:
    return bytes(255 - byte for byte in data)


@pytest.fixture
def inverted_repository(tmp_path):
    path = restore(HERE / f"format-{FORMAT}" / f"{CASE}.txt", tmp_path / "old")
    for pack in list((path / "packs").iterdir()):
        pack.with_suffix(ENDING).write_bytes(inverted(pack.read_bytes()))
        pack.unlink()
    stamp(path, OLD)
    return path


@pytest.fixture
def four(tmp_path):
    return restore(HERE / "format-4" / f"{CASE}.txt", tmp_path / "four")


def stamp(path: Path, number) -> None:
    value = unseal(path / "format")
    (path / "format").write_bytes(seal({**value, "format": number}))


def format_of(path: Path) -> int:
    return unseal(path / "format")["format"]


def contents(path: Path) -> list[str]:
    """What differs from the golden contents, whatever its packs are like."""
    found = digests_of(Repository.open(path))
    drop = lambda digests: {v: {n: d.rsplit(" ", 1)[0] for n, d in t.items()} for v, t in digests.items()}  # noqa: E731
    return differences(drop(found), drop(expected(FORMAT)[CASE]))


def test_a_format_4_repository_is_refused_by_name_and_then_migrated(four, capsys):
    with pytest.raises(UsageError, match=re.escape(f"assay weights migrate {four}")):
        Repository.open(four)
    assert main(["weights", "migrate", str(four)]) == 0
    assert re.fullmatch(
        rf"{four}: format 4 -> {FORMAT} \(differences at fixed lengths\); all \d+ tensors of 2 commits were read and "
        r"compared\n",
        capsys.readouterr().out,
    )
    assert contents(four) == []
    assert main(["weights", "migrate", str(four)]) == 0
    assert capsys.readouterr().out == f"{four} has format {FORMAT}, the present one: nothing to do\n"
    assert Repository.open(four).commit({}, "goes on") in Repository.open(four).commits


def test_packs_that_cannot_be_read_as_they_are_are_rewritten(inverted_repository):
    done = migrate(inverted_repository, known=KNOWN)
    assert (done.before, done.after, done.commits) == (OLD, FORMAT, 2)
    assert contents(inverted_repository) == []
    assert Repository.open(inverted_repository).verify().problems == ()
    assert {path.suffix for path in (inverted_repository / "packs").iterdir()} == {".pack"}


@pytest.mark.parametrize(
    ("number", "told"),
    [
        (1, "nothing can bring it to that: export its versions with the Assay that wrote it, and import them"),
        (OLD, "nothing can bring it to that"),
        (FORMAT + 1, "a newer version of Assay wrote it: install that one"),
        ("5", "has format '5'; this version"),
        (True, "has format True; this version"),
        (None, "has format None; this version"),
    ],
)
def test_other_formats_are_refused_with_what_to_do(four, number, told, capsys):
    stamp(four, number)
    before = {path: path.read_bytes() for path in four.rglob("*") if path.is_file() and path.name != "lock"}
    assert main(["weights", "migrate", str(four)]) == 2
    assert told in capsys.readouterr().err
    assert {path: path.read_bytes() for path in before} == before


def test_a_folder_that_is_none_and_an_address_are_refused(tmp_path, capsys):
    assert main(["weights", "migrate", str(tmp_path)]) == 2
    assert "is not a weight repository" in capsys.readouterr().err
    assert main(["weights", "migrate", "s3://bucket/models"]) == 2
    assert "migrate a copy in a folder, and push that elsewhere" in capsys.readouterr().err


def test_a_damaged_repository_stays_as_it_is(four):
    pack = next((four / "packs").iterdir())
    data = bytearray(pack.read_bytes())
    data[len(data) // 3] ^= 1
    pack.write_bytes(data)
    with pytest.raises(DataError, match=r"is damaged and stays as it is: .*; restore it from a copy first"):
        migrate(four)
    assert format_of(four) == 4


class KillingDisk(RepositoryDisk):
    """Kills its own process at a change to the disk, before it or after it."""

    def __init__(self, at: int) -> None:
        self._left = at

    def _count(self) -> None:
        self._left -= 1
        if self._left < 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def _around(self, change, *arguments):
        self._count()
        result = change(*arguments)
        self._count()
        return result

    def write(self, file, data):
        self._around(super().write, file, data)

    def sync(self, file):
        self._around(super().sync, file)

    def rename(self, source, target):
        self._around(super().rename, source, target)

    def remove(self, path):
        self._around(super().remove, path)


def killed_at(path: Path, at: int) -> bool:
    child = os.fork()
    if child == 0:
        try:
            migrate(path, KillingDisk(at), KNOWN)
        finally:
            os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


@pytest.mark.parametrize("number", [4, OLD])
def test_killed_at_every_change_of_the_disk_it_is_whole_before_or_after(number, four, inverted_repository, tmp_path):
    whole = four if number == 4 else inverted_repository
    kills = {number: 0, FORMAT: 0}
    at = 0
    while True:
        path = copytree(whole, tmp_path / f"killed-{at}")
        if not killed_at(path, at):
            break
        kills[format_of(path)] += 1
        if format_of(path) == number:
            # The old packs are all there, and nothing else that an older version of Assay would look at.
            for pack in (whole / "packs").iterdir():
                assert (path / "packs" / pack.name).read_bytes() == pack.read_bytes()
            assert migrate(path, known=KNOWN).before == number
        else:
            assert migrate(path, known=KNOWN).change == ""
        assert contents(path) == []
        assert Repository.open(path).verify().problems == ()
        at += 1 if number == 4 else 3
    assert kills[number] > 3
    assert kills[FORMAT] > 0
