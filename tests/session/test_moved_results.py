"""A results folder can be carried elsewhere: to another place, and from a container to its host."""

from __future__ import annotations

import os
import signal
import tempfile
import time
from pathlib import Path

import pytest
from workplace import Workplace

from assay.config.entry_config import RayConfig
from assay.session.ray_cluster import RayCluster

KEEPS = "import os, pathlib; (pathlib.Path(os.environ['ASSAY_SCRATCH_DIR']) / 'big').write_text('x')"
CONFIG = """
delete_scratch: false
entries:
  - {name: first, command: "python3 keeps.py"}
  - {name: second, command: "python3 reads.py {session_entry_dir}/../first/scratch/big"}
"""


def links(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_symlink()]


def prepare(place: Workplace, config: str = CONFIG) -> None:
    place.write("keeps.py", KEEPS)
    place.write("reads.py", "import sys, os, time; open(sys.argv[1]).read(); os.path.exists('wait') and time.sleep(60)")
    place.write("session.yaml", config)


def test_links_are_relative_and_everything_works_where_the_folder_was_moved_to(workplace: Workplace) -> None:
    prepare(workplace)
    for _ in range(2):
        answer = workplace.assay("run", "--config", "session.yaml")
        assert answer.code == 0, answer.out + answer.err
    (workplace.folder / "far/away").mkdir(parents=True)
    moved = (workplace.folder / "results").rename(workplace.folder / "far/away/results")
    assert len(links(moved)) == 4
    for link in links(moved):
        assert not os.readlink(link).startswith("/")
        assert link.exists(), f"{link} dangles"
    session = sorted(path.parent for path in moved.glob("*/session.json"))[-1]
    assert (session / "first/scratch/big").read_text() == "x"
    there = ("--results-dir", str(moved))
    for words in (["show"], ["logs", "first"], ["report"]):
        answer = workplace.assay(*words, *there)
        assert answer.code == 0, (words, answer.err)
    answer = workplace.assay("compare", "latest~1", "latest", *there)
    assert ("first" in answer.out, "second" in answer.out) == (True, True), answer.out
    assert answer.err == "" or answer.err.startswith("warning: not a pass: "), answer.err


def test_a_session_that_was_cut_short_goes_on_where_it_was_moved_to(workplace: Workplace) -> None:
    prepare(workplace)
    workplace.write("wait", "")
    assay = workplace.start("run", "--config", "session.yaml")
    deadline = time.monotonic() + 30
    while not list(workplace.folder.glob("results/*/second/logs/stdout.log")) and time.monotonic() < deadline:
        time.sleep(0.02)
    assay.send_signal(signal.SIGINT)
    assay.wait()
    (workplace.folder / "wait").unlink()
    moved = (workplace.folder / "results").rename(workplace.folder / "moved")
    answer = workplace.assay("run", "--resume", "latest", "--results-dir", "moved")
    assert answer.code == 0, answer.out + answer.err
    assert not (workplace.folder / "results").exists(), "what is large goes along"
    assert len(links(moved)) == 2
    assert all(link.exists() for link in links(moved))


def test_a_link_that_the_host_could_not_follow_does_not_outlive_the_session(workplace: Workplace) -> None:
    """Two volumes that lie another way to each other on the host than in the container."""
    folder = workplace.folder
    prepare(workplace, f"""
paths:
  - {{name: results_path, host_path: /raid/one/results, container_path: {folder}/results}}
  - {{name: large, host_path: /big, container_path: {folder}/large}}
artifacts_dir: "{{large}}/artifacts"
{CONFIG}""")  # fmt: skip
    answer = workplace.assay("run", "--config", "session.yaml", ASSAY_IN_CONTAINER="1")
    assert answer.code == 0, answer.out + answer.err
    session = workplace.sessions()[-1].path
    assert links(folder / "results") == []
    report = f"{session.name}/report.html"
    assert f"Report: {folder}/results/{report} (on the host: /raid/one/results/{report})\n" in answer.out
    assert (folder / "large/artifacts" / session.name / "first/scratch/big").read_text() == "x"


def test_kept_logs_of_ray_have_no_links_into_what_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    cluster = RayCluster(RayConfig(), tmp_path, tmp_path / "kept")
    logs = next(tmp_path.glob("assay-ray-*")) / "session_2026/logs"
    logs.mkdir(parents=True)
    (logs / "raylet.out").write_text("x")
    (logs / "newest.out").symlink_to(logs / "raylet.out")
    cluster.close()
    assert [path.name for path in (tmp_path / "kept/session_2026").iterdir()] == ["raylet.out"]
