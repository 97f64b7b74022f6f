"""Many jobs, one session: no record is lost or there twice, and everybody is told once."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from workplace import Answer, Workplace

from assay.cli.main import main
from assay.files.writing import write_atomic
from assay.history.history import History
from assay.record import Outcome, SessionFolder
from assay.record.jobs import Jobs
from assay.record.results_file import read_records

STEP = """
import json, os, pathlib, sys, time
out = pathlib.Path(os.environ["ASSAY_BENCHMARK_RESULTS_PATH"])
name, gate = sys.argv[1], pathlib.Path(sys.argv[2])
with open("started.log", "a") as log: log.write(f"{name}\\n")
while not gate.exists(): time.sleep(0.02)
(out / "params.json").write_text("{}")
(out / "metrics.json").write_text(json.dumps({"is_success": True}))
"""
SINK = """
import errno
import json
import os
import shutil
from assay.sinks import Sink

class Told(Sink):
    def initialize(self, session_name, env): self._tell("start", session_name)
    def process_result(self, result): self._tell("record", result["run_id"])
    def finalize(self): self._tell("end", self.context.session_name)
    def _tell(self, *words):
        with open("told.log", "a") as log: log.write(" ".join(words) + "\\n")
"""
SETUP = ("data_setups:", "  - {name: fetch, script: step.py, args: fetch open}")
SINKS = ("sinks:", "  - {name: told, class: told_sink.Told}")


def four(place: Workplace, setup: bool = False, **gates: str) -> None:
    """Entries a to d, each over when the file that `gates` names for it is there; the others' is."""
    place.write("scripts/step.py", STEP)
    place.write("told_sink.py", SINK)
    place.write("open", "")
    entries = [
        f"  - {{name: {name}, script: step.py, args: {name} {gates.get(name, 'open')}, grace_s: 0.5}}"
        for name in "abcd"
    ]
    place.write("s.yaml", "\n".join(["results_dir: results", *(SETUP if setup else ()), "entries:", *entries, *SINKS]))
    place.environment["PYTHONPATH"] += f":{place.folder}"


class Here:
    """The command in this process: cheaper than a new one, where nothing has to be killed or waited for."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def assay(self, *words: str) -> Answer:
        self._capsys.readouterr()
        code = main(words)
        captured = self._capsys.readouterr()
        return Answer(code, captured.out, captured.err)

    def join(self, entries: str, *more: str) -> Answer:
        return self.assay("run", "--config", "s.yaml", "--join", "night", "--entries-exact", entries, *more)


@pytest.fixture
def here(workplace: Workplace, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Here:
    monkeypatch.chdir(workplace.folder)
    monkeypatch.syspath_prepend(str(workplace.folder))
    return Here(capsys)


def job(place: Workplace, entry: str, *more: str) -> subprocess.Popen[bytes]:
    return place.start("run", "--config", "s.yaml", "--join", "night", "--entries-exact", entry, *more)


def session(place: Workplace) -> SessionFolder:
    return SessionFolder(place.folder / "results" / "night")


def wait_for(place: Workplace, entry: str) -> None:
    log = place.folder / "started.log"
    deadline = time.monotonic() + 60
    while not (log.exists() and entry in log.read_text().split()):
        assert time.monotonic() < deadline, f"{entry} was not started"
        time.sleep(0.02)


def told(place: Workplace) -> list[str]:
    log = place.folder / "told.log"
    return log.read_text().splitlines() if log.exists() else []


def test_four_jobs_at_once_of_which_one_is_killed(workplace: Workplace, here: Here) -> None:
    four(workplace, setup=True, d="never")
    jobs = {name: job(workplace, name, "--expect", "a,b,c,d") for name in "abcd"}
    wait_for(workplace, "d")
    jobs["d"].kill()
    codes = {name: process.wait() for name, process in jobs.items()}

    assert codes == {"a": 0, "b": 0, "c": 0, "d": -signal.SIGKILL}
    folder = session(workplace)
    assert folder.info().status == "running"
    assert not folder.results.exists()
    assert not folder.report.exists()
    assert told(workplace) == []
    shown = here.assay("show", "night").out
    assert "missing (`assay run --join night --finish` finishes the session without):\n  d: job " in shown
    assert "ended without finishing it" in shown

    finish = here.assay("run", "--join", "night", "--finish")

    assert finish.code == 1
    assert "warning: finished without d: job " in finish.err
    records = list(read_records(folder.results))
    assert Counter(record.run_id for record in records) == Counter(
        f"night/{name}/run-01" for name in ("fetch", "a", "b", "c", "d")
    )
    assert {record.name: record.outcome for record in records}["d"] is Outcome.INTERRUPTED
    assert sum(record.success for record in records) == 4
    assert (workplace.folder / "started.log").read_text().split().count("fetch") == 1
    assert folder.report.is_file()
    assert folder.info().status == "interrupted"
    environments = json.loads((folder.path / "env.json").read_text())["jobs"]
    assert len(environments) == 4
    assert all(found["cores"] for found in environments.values())
    with History.beside(workplace.folder / "results", read_only=True) as history:
        assert sorted(record.name for record in history.records("night")) == ["a", "b", "c", "d", "fetch"]
    assert Counter(line.split()[0] for line in told(workplace)) == {"start": 1, "record": 5, "end": 1}


def test_the_last_job_finishes_and_a_dead_jobs_entry_may_be_run_again(workplace: Workplace, here: Here) -> None:
    four(workplace, d="later")
    killed = job(workplace, "d", "--expect", "a,d")
    wait_for(workplace, "d")
    killed.kill()
    killed.wait()
    workplace.write("later", "")
    assert here.join("d").code == 0
    assert session(workplace).info().status == "running"
    attempts = list(read_records(session(workplace).path / "d" / "results.jsonl"))
    assert [(record.outcome, record.superseded) for record in attempts] == [
        (Outcome.INTERRUPTED, True),
        (Outcome.PASSED, False),
    ]
    assert "ended while this was running" in attempts[0].reasons[0]

    last = here.join("a")

    assert last.code == 0, last.err
    assert "night  ✓ 2 passed" in last.out
    folder = session(workplace)
    assert folder.info().status == "finished"
    assert [record.name for record in read_records(folder.results)] == ["d", "a"]
    assert told(workplace) == ["start night", "record night/d/run-01", "record night/a/run-01", "end night"]

    late = here.join("b")
    assert late.code == 2
    assert f"session night was finished at {folder.info().finished_at}: no job can join it any more" in late.err
    again = here.assay("run", "--join", "night", "--finish")
    assert again.code == 0, "a last job that finishes, whatever happened, may come after --expect"
    assert again.out == f"Session night was finished at {folder.info().finished_at}: there is nothing to do\n"
    assert len(told(workplace)) == 4


def wait_until(true: Callable[[], object], what: str) -> None:
    deadline = time.monotonic() + 120
    while not true():
        assert time.monotonic() < deadline, what
        time.sleep(0.02)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
@pytest.mark.parametrize("at", ["between two entries", "in the second entry"])
def test_a_job_that_was_cut_short_after_some_of_its_entries_is_started_again(
    workplace: Workplace, here: Here, at: str, how: signal.Signals
) -> None:
    """It runs what it had left, and nothing twice: no entry of the session is lost."""
    four(workplace, c="later", d="later")
    config = workplace.folder / "s.yaml"
    config.write_text(config.read_text().replace("{name: d,", "{name: d, needs: [c],"))
    if at == "between two entries":  # it waits there for the other job's c, which d needs
        other = job(workplace, "c,b")
        wait_for(workplace, "c")
        cut = job(workplace, "a,d")
    else:
        workplace.write("later", "")
        other = job(workplace, "c,b")
        assert other.wait() == 0
        (workplace.folder / "later").unlink()
        cut = job(workplace, "a,d")
        wait_for(workplace, "d")
    wait_until(lambda: "a" in {record.name for record in session(workplace).records()}, "a was not recorded")
    cut.send_signal(how)
    assert cut.wait() == (-signal.SIGKILL if how == signal.SIGKILL else 130)
    workplace.write("later", "")
    assert other.wait() == 0

    again = here.join("a,d")

    assert again.code == 0, again.out + again.err
    assert "\ta was run by job " in again.out
    started = Counter((workplace.folder / "started.log").read_text().split())
    assert started == Counter("abcd" if at == "between two entries" else "abcdd")
    full = here.join("a,d")
    assert full.code == 2
    assert "entry 'a' of session night was run by job " in full.err
    assert here.assay("run", "--join", "night", "--finish").code == 0
    folder = session(workplace)
    assert folder.info().status == "finished"
    assert Counter(record.name for record in read_records(folder.results)) == Counter("abcd")
    assert all(record.success for record in read_records(folder.results))
    assert Counter(line.split()[0] for line in told(workplace)) == {"start": 1, "record": 4, "end": 1}


def test_a_second_job_for_an_entry_is_refused_and_says_who_has_it(workplace: Workplace, here: Here) -> None:
    four(workplace, a="later")
    first = job(workplace, "a")
    wait_for(workplace, "a")
    second = here.join("b,a")
    assert second.code == 2
    assert "entry 'a' of session night is run by job " in second.err
    assert f"process {first.pid}); nothing was run here, since an entry belongs to one job" in second.err
    workplace.write("later", "")
    assert first.wait() == 0
    assert [record.name for record in session(workplace).records()] == ["a"]
    third = here.join("a")
    assert "entry 'a' of session night was run by job " in third.err
    assert here.join("b").code == 0


def test_what_a_dead_job_recorded_last_is_not_run_again_by_the_job_that_waited_for_it(workplace: Workplace) -> None:
    four(workplace)
    gate = 'os.environ["ASSAY_RUN_ID"].rpartition("/")[2]'
    workplace.write("scripts/by_run.py", STEP.replace("sys.argv[2]", gate))
    config = workplace.folder / "s.yaml"
    text = config.read_text().replace("{name: d,", "{name: d, needs: [c],")
    config.write_text(text.replace("{name: c, script: step.py,", "{name: c, repeat: 2, script: by_run.py,"))
    first = job(workplace, "c")
    wait_for(workplace, "c")
    waiting = subprocess.Popen(
        workplace.argv("run", "--config", "s.yaml", "--join", "night", "--entries-exact", "d"),
        cwd=workplace.folder, env=workplace.environment, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert waiting.stdout is not None
    while "Waiting for c, which job " not in (said := waiting.stdout.readline()):
        assert said, "it ended without waiting"
    waiting.send_signal(signal.SIGSTOP)  # as on a busy machine: it looks again only after all of this
    try:
        os.waitid(os.P_PID, waiting.pid, os.WSTOPPED | os.WNOWAIT)
        workplace.write("run-01", "")
        wait_until(lambda: session(workplace).records(), "the first run of c was not recorded")
        first.kill()
        first.wait()
    finally:
        waiting.send_signal(signal.SIGCONT)
    [before] = session(workplace).records()
    workplace.write("run-02", "")
    waiting.communicate()

    assert waiting.returncode == 0
    records = {record.run_id: record for record in session(workplace).records()}
    assert sorted(records) == ["night/c/run-01", "night/c/run-02", "night/d/run-01"]
    assert records[before.run_id].started_at == before.started_at, "the first run of c was run again"


def test_a_refused_job_with_other_files_changes_nothing(workplace: Workplace, here: Here) -> None:
    four(workplace, a="later")
    config = workplace.folder / "s.yaml"
    text = config.read_text()
    first = job(workplace, "a", "--expect", "a")
    wait_for(workplace, "a")
    config.write_text(text.replace("{name: a,", "{name: a, repeat: 3,"))
    assert here.join("a").code == 2
    workplace.write("later", "")
    try:
        assert first.wait(timeout=120) == 0
    finally:
        first.kill()
    assert session(workplace).info().status == "finished"
    assert [record.run_id for record in read_records(session(workplace).results)] == ["night/a/run-01"]


def test_finish_waits_for_a_job_that_runs(workplace: Workplace, here: Here) -> None:
    four(workplace, a="later")
    running = job(workplace, "a")
    wait_for(workplace, "a")
    finishing = subprocess.Popen(
        workplace.argv("run", "--join", "night", "--finish"),
        cwd=workplace.folder, env=workplace.environment, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert finishing.stdout is not None
    said = finishing.stdout.readline()
    assert said.startswith("Waiting for job ")
    assert said.endswith(f"process {running.pid}), which runs a\n")
    late = here.join("b")
    assert late.code == 2
    assert "no job can join session night any more: job " in late.err
    assert late.err.endswith(" is finishing it\n")
    workplace.write("later", "")
    assert running.wait() == 0
    finishing.communicate()
    assert finishing.returncode == 0
    assert [record.outcome for record in read_records(session(workplace).results)] == [Outcome.PASSED]
    assert session(workplace).info().status == "finished"


def test_an_interrupted_job_leaves_its_entry_to_another_or_to_resume(workplace: Workplace, here: Here) -> None:
    four(workplace, a="later")
    interrupted = job(workplace, "a", "--expect", "a,b")
    wait_for(workplace, "a")
    interrupted.send_signal(signal.SIGINT)
    assert interrupted.wait() == 130
    assert "  a: interrupted in job " in here.assay("show", "night").out
    early = here.assay("run", "--resume", "night")
    assert early.code == 2
    assert "session night is open for jobs: finish it first (assay run --join night --finish)" in early.err
    assert here.assay("run", "--join", "night", "--finish").code == 1
    late = here.join("b")
    assert "`assay run --resume night` runs what is missing in it" in late.err

    workplace.write("later", "")
    resumed = here.assay("run", "--resume", "night")

    assert resumed.code == 0, resumed.out + resumed.err
    folder = session(workplace)
    assert folder.info().status == "finished"
    assert {record.name: record.outcome for record in folder.records()} == {"a": Outcome.PASSED, "b": Outcome.PASSED}
    late = here.join("c")
    assert "is a session of one process; choose another name" in late.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--join", "night", "--config", "s.yaml", "--expect", "a,e"], "--expect: unknown entry 'e'"),
        (["--join", "night", "--config", "s.yaml", "--expect", ","], "--expect ',' names no entry"),
        (["--config", "s.yaml", "--expect", "a"], "--expect goes with --join NAME"),
        (["--finish"], "--finish goes with --join NAME"),
        (["--join", "night", "--finish"], "there is no session 'night' in "),
        (["--join", "night", "--finish", "--config", "s.yaml"], "--finish runs nothing"),
        (["--join", "night", "--resume", "night"], "leave --resume out"),
        (["--join", "night", "--session-name", "x", "--config", "s.yaml"], "leave --session-name out"),
        (["--join", "../night", "--config", "s.yaml"], "--join '../night'"),
        (["--join", "night", "--", "true"], "--join goes with --config or --matrix"),
        (["--join", "night", "--config", "s.yaml", "--entries-exact", "a,x"], "--entries-exact: unknown entry 'x'"),
        (["--join", "taken", "--config", "s.yaml"], "holds something that is not a session"),
    ],
)
def test_what_cannot_be_is_said_before_anything_runs(
    workplace: Workplace, here: Here, words: list[str], message: str
) -> None:
    four(workplace)
    workplace.write("results/taken/notes.txt", "mine")
    answer = here.assay("run", *words)
    assert answer.code == 2
    assert message in answer.err
    assert not (workplace.folder / "started.log").exists()
    assert not (workplace.folder / "results" / "night").exists()


def test_a_record_says_on_which_host_it_was_made(
    workplace: Workplace, here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    four(workplace)
    for entry, host in (("a", "node-1"), ("b", "node-2")):
        monkeypatch.setattr("socket.gethostname", lambda host=host: host)
        assert here.join(entry, "--no-sink", "told").code == 0
    assert {record.name: record.host for record in session(workplace).records()} == {"a": "node-1", "b": "node-2"}
    assert "runs on 2 hosts: node-1, node-2" in here.assay("show", "night").out
    assert here.assay("run", "--join", "night", "--finish").code == 0
    environments = json.loads((session(workplace).path / "env.json").read_text())["jobs"]
    assert sorted(found["host"] for found in environments.values()) == ["node-1", "node-2"]


def test_finishing_that_was_killed_is_done_again_and_nobody_is_told_twice(workplace: Workplace, here: Here) -> None:
    four(workplace)
    assert job(workplace, "a", "--expect", "a").wait() == 0
    folder = session(workplace)
    before = told(workplace), folder.info(), folder.results.read_bytes()
    (folder.path / ".jobs" / "finished").unlink()
    folder.report.unlink()

    again = here.assay("run", "--join", "night", "--finish")

    assert again.code == 0, again.err
    assert folder.report.is_file()
    assert before == (told(workplace), folder.info(), folder.results.read_bytes())


def test_parts_copied_together_from_machines_without_a_shared_folder(workplace: Workplace, here: Here) -> None:
    four(workplace, setup=True)
    for entry in "ab":
        assert here.join(entry).code == 0
        (workplace.folder / "results").rename(workplace.folder / f"of-{entry}")
    for entry in "ab":
        shutil.copytree(workplace.folder / f"of-{entry}", workplace.folder / "results", dirs_exist_ok=True)

    finish = here.assay("run", "--join", "night", "--finish")

    assert finish.code == 0, finish.err
    assert sorted(record.name for record in read_records(session(workplace).results)) == ["a", "b", "fetch"]
    assert Counter(line.split()[0] for line in told(workplace)) == {"start": 1, "record": 3, "end": 1}
    assert len(json.loads((session(workplace).path / "env.json").read_text())["jobs"]) == 2


def test_a_session_that_jobs_run_is_not_pruned(workplace: Workplace, here: Here) -> None:
    four(workplace, a="later")
    running = job(workplace, "a")
    wait_for(workplace, "a")
    assert here.assay("prune", "--keep", "0").out == ""
    workplace.write("later", "")
    assert running.wait() == 0
    assert [record.name for record in session(workplace).records()] == ["a"]


def test_a_job_that_was_killed_before_it_knew_its_environment(workplace: Workplace, here: Here) -> None:
    four(workplace)
    assert here.join("a").code == 0
    jobs = Jobs(session(workplace).path)
    [first] = jobs.all()
    (jobs.folder / "killed").mkdir()
    jobs.write(replace(first, id="killed", ticks=1, status="running"))

    finish = here.assay("run", "--join", "night", "--finish")

    assert finish.code == 0, finish.err
    assert list(json.loads((session(workplace).path / "env.json").read_text())["jobs"]) == [first.id]


def test_a_finisher_that_died_is_not_said_to_be_at_it(workplace: Workplace, here: Here) -> None:
    four(workplace)
    assert here.join("a").code == 0
    jobs = Jobs(session(workplace).path)
    [first] = jobs.all()
    dead = replace(first, id="dead", ticks=1)
    (jobs.folder / "dead").mkdir()
    jobs.write(dead)
    assert jobs.claim_finish(dead)
    late = here.join("b")
    assert late.code == 2
    assert "no job can join session night any more: job dead (host " in late.err
    assert "ended while finishing it; `assay run --join night --finish` does so again" in late.err
    assert here.assay("run", "--join", "night", "--finish").code == 0


def test_a_job_whose_entry_another_one_runs_because_it_needs_it_waits_for_the_result(workplace: Workplace) -> None:
    four(workplace, a="later")
    text = (workplace.folder / "s.yaml").read_text()
    (workplace.folder / "s.yaml").write_text(text.replace("{name: b,", "{name: b, needs: [a],"))
    needing = job(workplace, "b", "--expect", "a,b")
    wait_for(workplace, "a")
    asked = subprocess.Popen(
        workplace.argv("run", "--config", "s.yaml", "--join", "night", "--entries-exact", "a"),
        cwd=workplace.folder, env=workplace.environment, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert asked.stdout is not None
    while "Waiting for a, which job " not in (said := asked.stdout.readline()):
        assert said, "it ended without waiting"
    workplace.write("later", "")
    asked.communicate()
    assert [needing.wait(), asked.returncode] == [0, 0]
    assert sorted((workplace.folder / "started.log").read_text().split()) == ["a", "b"]
    assert sorted(record.name for record in read_records(session(workplace).results)) == ["a", "b"]
    assert session(workplace).info().status == "finished"


def test_a_full_disk_at_the_end_is_said_and_the_finish_can_be_done_again(
    workplace: Workplace, here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    four(workplace)
    assert here.join("a").code == 0
    results = str(session(workplace).results)

    def full(path: Path, text: str) -> None:
        if str(path) == results:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), results)
        write_atomic(path, text)

    with monkeypatch.context() as patched:
        patched.setattr("assay.session.joined.write_atomic", full)
        finish = here.assay("run", "--join", "night", "--finish")
    assert finish.code == 2
    assert f"session night could not be finished: No space left on device: {results}" in finish.err
    assert "assay run --join night --finish` tries again" in finish.err
    assert session(workplace).info().status == "running"
    assert here.assay("run", "--join", "night", "--finish").code == 0
    assert session(workplace).info().status == "finished"
