"""Folders from elsewhere, with links and FIFOs where files belong: nothing outside is written, nothing hangs."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy
from workplace import Workplace

ROOT = Path(__file__).parent.parent.parent
sys.path.insert(0, str(ROOT))

from tools import file_creation  # noqa: E402

SECRET = "ssh-ed25519 AAAA the only key\n"
CONFIG = """
results_path: results
entries:
  - {name: one, script: one.py}
"""
PROGRAM = """
import json, os, sys
folder = sys.argv[sys.argv.index("--benchmark-results-path") + 1]
for name in ("params.json", "metrics.json"):
    with open(os.path.join(folder, name), "w") as file:
        json.dump({"is_success": True}, file)
"""
PLANT_FIFOS = """
import os, re
pid = os.getpid()
while pid > 1:
    pid = int(re.search(r"PPid:\\t(\\d+)", open(f"/proc/{pid}/status").read())[1])
    for name in ("session.json", "results.jsonl", "report.html", "env.json"):
        try:
            os.mkfifo(os.path.join(os.environ["SESSION"], f".{name}.{pid}.tmp"))
        except FileExistsError:
            pass
"""


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    path = tmp_path / "elsewhere" / "authorized_keys"
    path.parent.mkdir()
    path.write_text(SECRET)
    return path


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a session and a repository, made once."""
    workplace = Workplace(tmp_path_factory.mktemp("prepared"))
    workplace.write("one.py", PROGRAM)
    workplace.write("a.yaml", CONFIG)
    assert workplace.assay("run", "--config", "a.yaml").code == 0
    safetensors.numpy.save_file({"w": np.ones((8, 8), np.float32)}, workplace.folder / "m.safetensors")
    assert workplace.assay("weights", "init", "repo").code == 0
    assert workplace.assay("weights", "commit", "repo", "m.safetensors", "-m", "one").code == 0
    return workplace.folder


@pytest.fixture
def session(workplace: Workplace, prepared: Path) -> Path:
    shutil.copytree(prepared, workplace.folder, dirs_exist_ok=True, symlinks=True)
    return workplace.sessions()[-1].path


@pytest.fixture
def repository(workplace: Workplace, session: Path) -> Path:
    return workplace.folder / "repo"


def cut_short(session: Path) -> None:
    """Make a finished session look as if Assay had been killed before its first record."""
    file = session / "session.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "status": "running", "finished_at": None}))
    (session / "results.jsonl").write_text("")


def next_pids() -> Iterator[int]:
    """Yield the process ids that the next few thousand processes may have."""
    last = int(Path("/proc/loadavg").read_text().split()[-1])
    yield from range(max(2, last - 200), last + 4000)


def test_a_report_is_not_written_through_links_with_a_temporary_files_name(
    workplace: Workplace, session: Path, victim: Path
) -> None:
    for pid in next_pids():
        (session / f".report.html.{pid}.tmp").symlink_to(victim)
    assert workplace.assay("report", str(session)).code == 0
    assert victim.read_text() == SECRET


@pytest.mark.parametrize("name", [".reserve", "session.log", "report.html", "env.json", "one/stdouterr.log", ".lock"])
def test_a_session_that_goes_on_writes_through_no_link(
    workplace: Workplace, session: Path, victim: Path, name: str
) -> None:
    cut_short(session)
    (session / name).unlink(missing_ok=True)
    (session / name).symlink_to(victim)
    workplace.assay("run", "--resume", str(session))
    assert victim.read_text() == SECRET


@pytest.mark.parametrize("name", ["one", "one/logs", "one/artifacts", "one/benchmark_results", "artifacts", "outbox"])
def test_a_session_that_goes_on_neither_writes_nor_deletes_behind_a_linked_folder(
    workplace: Workplace, session: Path, victim: Path, name: str
) -> None:
    cut_short(session)
    if (session / name).exists():
        (session / name).rename(session / "away")
    (session / name).symlink_to(victim.parent)
    answer = workplace.assay("run", "--resume", str(session))
    assert [path.name for path in victim.parent.iterdir()] == [victim.name]
    assert victim.read_text() == SECRET
    if name in ("artifacts", "outbox"):
        assert answer.code == 2
        assert f"{session / name}: is a symbolic link, not a folder" in answer.err


def test_fifos_that_a_program_plants_for_temporary_files_do_not_hold_up_its_session(workplace: Workplace) -> None:
    workplace.write("one.py", PLANT_FIFOS + PROGRAM)
    workplace.write("a.yaml", CONFIG.replace("one.py}", 'one.py, env: {SESSION: "{session_entry_dir}/.."}}'))
    assert workplace.assay("run", "--config", "a.yaml").code == 0
    assert list(workplace.sessions()[-1].path.glob(".session.json.*.tmp"))


@pytest.mark.parametrize("suffix", ["-journal", "-wal", "-shm", ""])
def test_a_fifo_beside_the_history_is_named(workplace: Workplace, session: Path, suffix: str) -> None:
    history = session.parent / "history.sqlite"
    for path in session.parent.glob("history.sqlite*"):
        if path.name == f"history.sqlite{suffix}" or not suffix:
            path.unlink()
    os.mkfifo(f"{history}{suffix}")
    for command in (["show"], ["report"], ["history", "list"], ["publish", "site"]):
        answer = workplace.assay(*command)
        assert answer.code in (0, 1, 2), answer
    assert f"history.sqlite{suffix}: is a FIFO, not a regular file" in workplace.assay("history", "list").err


def test_a_history_is_not_created_through_a_link(workplace: Workplace, session: Path, victim: Path) -> None:
    for path in session.parent.glob("history.sqlite*"):
        path.unlink()
    target = victim.parent / "new.sqlite"
    (session.parent / "history.sqlite").symlink_to(target)
    assert workplace.assay("run", "--config", "a.yaml").code == 0
    assert not target.exists()


READING = [("log",), ("verify",), ("gc",), ("stats",), ("push", "other"), ("clone",)]


@pytest.mark.parametrize("place", ["commits", "packs", "format", "refs"])
@pytest.mark.parametrize("planted", ["fifo", "device", "sparse"])
def test_what_stands_for_a_file_of_a_repository_is_named_and_not_read(
    workplace: Workplace, repository: Path, place: str, planted: str
) -> None:
    path = repository / place
    if path.is_dir():
        path = next(path.iterdir())
    path.unlink()
    if planted == "fifo":
        os.mkfifo(path)
    elif planted == "device":
        path.symlink_to("/dev/zero")
    else:
        with path.open("wb") as file:
            file.truncate(1 << 40)
    for number, (command, *words) in enumerate(READING):
        before = ["weights", command, str(repository), *(words or ([f"copy-{number}"] if command == "clone" else []))]
        done = _bounded(workplace, before)
        assert done.returncode != -9, before
        assert "Traceback" not in done.stderr
    assert done.returncode != 0


def _bounded(workplace: Workplace, words: list[str]) -> subprocess.CompletedProcess[str]:
    """Run a command with at most 4 GB of memory and a minute."""
    limited = "import resource; resource.setrlimit(resource.RLIMIT_DATA, (1 << 32, 1 << 32)); import runpy, sys; sys.argv = ['assay', *sys.argv[1:]]; runpy.run_module('assay', run_name='__main__')"  # noqa: E501
    return subprocess.run(
        [sys.executable, "-c", limited, *words],
        cwd=workplace.folder,
        env=workplace.environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("folder", ["commits", "packs", "tmp"])
def test_a_repository_whose_folder_is_a_link_is_refused(
    workplace: Workplace, repository: Path, victim: Path, folder: str
) -> None:
    (repository / folder).rename(workplace.folder / "away")
    (repository / folder).symlink_to(victim.parent)
    for words in (("commit", "repo", "m.safetensors", "-m", "two"), ("gc", "repo")):
        answer = workplace.assay("weights", *words)
        assert answer.code != 0
        assert f"repo/{folder}: is a symbolic link, not a folder" in answer.err
    assert [path.name for path in victim.parent.iterdir()] == [victim.name]


@pytest.mark.parametrize(
    "line",
    [
        'Path("x").open("w")',
        'open("x", "a")',
        'open("x", mode="r+")',
        'Path("x").write_text("")',
        'os.open("x", os.O_WRONLY | os.O_CREAT)',
        'shutil.copyfile("a", "b")',
        'tarfile.open("x", "w:gz")',
    ],
)
def test_the_lint_rule_finds_other_ways_of_creating_files(tmp_path: Path, line: str) -> None:
    (tmp_path / "a.py").write_text(f"x = 1\n{line}\n")
    assert [found.partition(": ")[0] for found in file_creation.other_ways(tmp_path)] == ["a.py:2"]


def test_the_package_creates_files_in_one_way() -> None:
    assert list(file_creation.other_ways()) == []


def test_what_the_lint_rule_leaves_out_is_there() -> None:
    gone = [name for name in file_creation.ELSEWHERE if not (file_creation.SOURCE / name).exists()]
    assert gone == []
