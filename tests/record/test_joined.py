"""What jobs of one session write beside each other, on a file system that may have no locks and no hard links."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from assay.files.writing import create_exclusive
from assay.record import Fingerprint, Outcome, Record
from assay.record.heartbeat import DEAD_AFTER_S, Claims, Heartbeat, is_alive, place, start_ticks
from assay.record.jobs import Job, Jobs, StartedRun
from assay.record.results_file import append_record

RACER = """
import sys
from pathlib import Path
from assay.record.heartbeat import Claims
claims = Claims(Path(sys.argv[1]))
sys.stdin.read()
me = sys.argv[2]
print(*(at for at in range(60) if claims.take(f"e{at}", me, lambda holder: holder == "dead") == me))
"""


def no_links(source: object, target: object) -> None:
    raise OSError(errno.EPERM, "Operation not permitted")


@pytest.fixture(params=["links", "no links"])
def links(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "no links":
        monkeypatch.setattr(os, "link", no_links)


@pytest.mark.usefixtures("links")
def test_a_file_is_made_once(tmp_path: Path) -> None:
    assert create_exclusive(tmp_path / "it", "one")
    assert not create_exclusive(tmp_path / "it", "two")
    assert (tmp_path / "it").read_text() == "one"
    assert [path.name for path in tmp_path.iterdir()] == ["it"]


def test_a_link_whose_answer_got_lost_counts_as_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    link = os.link

    def made_but_refused(source: Path, target: Path) -> None:
        link(source, target)
        raise FileExistsError(errno.EEXIST, "File exists")

    monkeypatch.setattr(os, "link", made_but_refused)
    assert create_exclusive(tmp_path / "it", "one")


def test_a_full_disk_is_not_taken_for_a_file_without_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(source: object, target: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "link", full)
    with pytest.raises(OSError, match="No space left"):
        create_exclusive(tmp_path / "it", "one")
    assert list(tmp_path.iterdir()) == []


def test_of_processes_that_claim_at_once_each_claim_has_one(tmp_path: Path) -> None:
    claims = Claims(tmp_path)
    for at in range(0, 60, 2):
        assert claims.take(f"e{at}", "dead", lambda holder: False) == "dead"
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", RACER, str(tmp_path), name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name in ("p", "q", "r")
    ]
    for racer in racers:
        assert racer.stdin is not None
        racer.stdin.close()
    won = [word for racer in racers for word in (racer.stdout.read() if racer.stdout else "").split()]
    assert sorted(map(int, won)) == list(range(60))
    assert [racer.wait() for racer in racers] == [0, 0, 0]


@pytest.mark.usefixtures("links")
def test_a_claim_is_taken_over_only_from_the_holder_that_was_judged(tmp_path: Path) -> None:
    claims = Claims(tmp_path)
    assert claims.take("a.b", "first", lambda holder: True) == "first"
    assert claims.take("a", "other", lambda holder: True) == "other"
    assert claims.take("a.b", "second", lambda holder: False) == "first"

    def judged(holder: str) -> bool:
        """While one judges the first holder dead, another takes over."""
        if holder == "first":
            assert claims.take("a.b", "third", lambda gone: gone == "first") == "third"
        return holder == "first"

    assert claims.take("a.b", "second", judged) == "third"
    assert claims.holder("a.b") == "third"
    assert claims.holder("b") is None


def job(name: str = "j", **changes: object) -> Job:
    known = Job(name, "node", os.getpid(), place(), start_ticks(os.getpid()), "2026-01-01T00:00:00+00:00")
    return replace(known, **changes)  # type: ignore[arg-type]


def test_on_one_machine_the_process_tells_whether_a_job_lives(tmp_path: Path) -> None:
    nowhere = tmp_path / "alive"
    assert is_alive(job(), nowhere)
    assert not is_alive(job(ticks=1), nowhere), "the number belongs to another process now"
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    of_child = job(pid=child.pid, ticks=start_ticks(child.pid))
    assert is_alive(of_child, nowhere)
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert not is_alive(of_child, nowhere), "killed, and not collected by its parent yet"
    child.communicate()


def test_of_another_host_the_heartbeat_tells(tmp_path: Path) -> None:
    beat = tmp_path / "alive"
    elsewhere = job(place="another boot pid:[1]")
    assert not is_alive(elsewhere, beat)
    with Heartbeat(beat):
        assert is_alive(elsewhere, beat)
    before = time.time() - DEAD_AFTER_S - 5
    os.utime(beat, (before, before))
    assert not is_alive(elsewhere, beat)


def a_record(entry: str, outcome: Outcome = Outcome.PASSED, host: str = "", at: int = 0) -> Record:
    stamp = f"2026-01-01T00:00:{at:02d}+00:00"
    return Record(entry, "s", f"s/{entry}/run-01", outcome, stamp, Fingerprint(entry, "", "", ""), host=host)


@pytest.fixture
def jobs(tmp_path: Path) -> Callable[..., Jobs]:
    """Each given job with its records, as it would have left them."""

    def make(**left: tuple[Job, list[Record]]) -> Jobs:
        found = Jobs(tmp_path)
        for name, (one, records) in left.items():
            (found.folder / name).mkdir(parents=True)
            found.write(replace(one, id=name))
            for record in records:
                append_record(found.folder / name / "results.jsonl", record)
        return found

    return make


def test_of_a_run_that_two_jobs_recorded_there_is_one(jobs: Callable[..., Jobs]) -> None:
    """A job that seemed dead and was not; data setups of machines without a shared file system."""
    alone = job(status="finished", planned=("a", "b"), runs={"a": 1, "b": 1})
    found = jobs(
        j1=(alone, [a_record("a", host="one", at=2), a_record("b", Outcome.INTERRUPTED, "one", at=4)]),
        j2=(alone, [a_record("a", host="two", at=3), a_record("b", host="two", at=5)]),
    )
    found.take("a", job("j2"))
    found.take("b", job("j1"))
    assert [(record.name, record.host) for record in found.records()] == [("a", "two"), ("b", "two")]
    assert found.open_entries() == []


def test_an_entry_that_a_dead_job_has_finished_is_not_taken_over(jobs: Callable[..., Jobs]) -> None:
    dead = job(
        ticks=1,
        planned=("a", "b"),
        runs={"a": 1, "b": 1},
        at=StartedRun("s/b/run-01", "b", "2026-01-01T00:00:00+00:00"),
    )
    found = jobs(j1=(dead, [a_record("a")]))
    found.take("a", replace(dead, id="j1"))
    found.take("b", replace(dead, id="j1"))
    assert [entry.words for entry in found.open_entries()] == [
        f"b: job j1 (host node, process {os.getpid()}) ended without finishing it"
    ]
    assert found.take("a", job("j2")) == "j1"
    assert found.take("b", job("j2")) == "j2"


def test_a_file_that_is_damaged_is_no_job(jobs: Callable[..., Jobs]) -> None:
    found = jobs(j1=(job(), []))
    (found.folder / "j2").mkdir()
    (found.folder / "j2" / "job.json").write_text("[1]")
    (found.folder / "j3").mkdir()
    (found.folder / "j3" / "job.json").write_text('{"id": "j3"')
    assert [one.id for one in found.all()] == ["j1"]
