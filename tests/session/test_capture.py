from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from assay.record import Fingerprint
from assay.record.secrets import Masker
from assay.session.capture_environment import (
    GitState,
    capture_environment,
    fingerprint,
    freeze,
    git_state,
    script_digest,
)


def git(folder: Path, *words: str) -> None:
    own = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run(["git", "-C", str(folder), *own, *words], check=True, capture_output=True)


def test_commit_branch_and_whether_files_changed(tmp_path: Path) -> None:
    assert git_state(tmp_path) == GitState()
    git(tmp_path, "init", "--initial-branch", "trunk")
    (tmp_path / "file").write_text("1")
    git(tmp_path, "add", "file")
    git(tmp_path, "commit", "-m", "first")
    clean = git_state(tmp_path)
    assert (len(clean.commit or ""), clean.branch, clean.dirty) == (40, "trunk", False)
    (tmp_path / "file").write_text("2")
    assert git_state(tmp_path).dirty is True


def test_the_environment_names_the_machine_and_lists_what_is_installed(tmp_path: Path) -> None:
    captured = capture_environment(tmp_path, tmp_path / "artifacts", "why")
    assert captured.cores >= 1
    assert captured.reason == "why"
    assert f"{captured.cores} cores" in captured.machine_class
    assert "numpy" in captured.packages
    assert "pydantic==" in (tmp_path / "artifacts/pip-freeze.txt").read_text()


def made(**changes: object) -> Fingerprint:
    values: dict = {
        "entry": "e",
        "args": ["--x", "1", "{scratch_dir}"],
        "settings": {},
        "params": {"x": 1, "output": "/results/s1/e/out"},
        "machine_class": "m",
        "folders": ["/results/s1"],
    }
    return fingerprint(**(values | changes))


def test_what_differs_in_every_run_is_not_in_the_fingerprint() -> None:
    other = made(params={"x": 1, "output": "/results/s2/e/out"}, folders=["/results/s2"])
    assert other.key == made().key


def test_what_decides_the_work_is() -> None:
    assert made(args=["--x", "2"]).key != made().key
    assert made(params={"x": 2}).key != made(params={"x": 1}).key
    assert made(machine_class="n").differences(made()) == ["machine: n against m"]
    assert made(project="search").differences(made()) == ["project: search against "]
    assert made().workload == ""
    assert made(params={"workload_version": 3}).workload == "version 3"
    assert made(params={"workload_version": 3}, version="4").workload == "version 4"
    assert made(version="4").params == made().params


def test_a_script_has_a_digest_as_long_as_it_can_be_read(tmp_path: Path) -> None:
    script = tmp_path / "s.py"
    script.write_text("1")
    first = script_digest(script)
    script.write_text("2")
    assert len(first) == 12
    assert script_digest(script) != first
    assert script_digest(tmp_path) == script_digest(tmp_path / "none") == script_digest(None) == ""


def test_secrets_are_known_by_name_and_by_value() -> None:
    masker = Masker({"API_TOKEN": "abcdef123", "TOKENIZERS_PARALLELISM": "false-value", "PATH": "/usr/bin"})
    assert masker.text("x abcdef123 y") == "x ***API_TOKEN*** y"
    assert masker.text("false-value /usr/bin") == "false-value /usr/bin"
    assert masker.text("http://user:hunter2@host/x") == "http://user:***@host/x"
    assert masker.words(["--password", "p", "--api-key=k", "--keys", "v"]) == [
        "--password",
        "***",
        "--api-key=***",
        "--keys",
        "v",
    ]
    assert masker.value({"webhook_url": "http://x", "rows": [1, "abcdef123"]}) == {
        "webhook_url": "***",
        "rows": [1, "***API_TOKEN***"],
    }


@pytest.mark.parametrize(
    ("variables", "image"),
    [
        ({"IMAGE_DIGEST": "team/assay@sha256:4c5e", "ASSAY_CONTAINER_IMAGE": "assay:1"}, "team/assay@sha256:4c5e"),
        ({"IMAGE_DIGEST": "sha256:4c5e", "ASSAY_CONTAINER_IMAGE": "assay:1"}, "assay:1@sha256:4c5e"),
        ({"IMAGE_DIGEST": "sha256:4c5e"}, "sha256:4c5e"),
        ({"CONTAINER_IMAGE": "assay:1"}, "assay:1"),
    ],
)
def test_a_container_is_known_by_the_digest_of_its_image_and_the_name_of_its_host(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], image: str
) -> None:
    for name in ("IMAGE_DIGEST", "ASSAY_CONTAINER_IMAGE", "CONTAINER_IMAGE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {**variables, "HOST_HOSTNAME": "node-7"}.items():
        monkeypatch.setenv(name, value)
    environment = capture_environment(tmp_path, tmp_path / "artifacts")
    assert (environment.container_image, environment.host) == (image, "node-7")


def test_packages_are_those_that_the_metadata_of_their_distributions_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = {
        "plain-1.dist-info/METADATA": "Metadata-Version: 2.4\nName: plain\nVersion: 1.0\n\nVersion: 9 of the text\n",
        "lines-2.dist-info/METADATA": "Metadata-Version: 2.4\r\nName: lines\r\nVersion: 2.0\r\n\r\ntext\r\n",
        "older-3.egg-info/PKG-INFO": "Metadata-Version: 1.0\nName: older\nVersion: 3.0\n",
        "nameless-4.dist-info/METADATA": "Metadata-Version: 2.4\nVersion: 4.0\n",
    }
    for name, text in written.items():
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_bytes(text.encode())
    monkeypatch.setattr("sys.path", [str(tmp_path)])
    assert freeze() == {"lines": "2.0", "older": "3.0", "plain": "1.0"}
