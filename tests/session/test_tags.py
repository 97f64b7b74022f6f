"""What a session and its entries are found by, from the files and the command line into session.json."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.cli.main import main
from assay.history import find_session
from assay.record import SessionInfo

CONFIG = """
tags: [nightly, gpu]
entries:
  - name: quick
    command: [/bin/true]
    tags: [smoke, io/disk]
    repeat: 2
    warmup: 1
    timeout_s: 40
  - name: plain
    command: [/bin/true]
"""


def test_tags_runs_and_limits_are_kept_with_the_session(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "s.yaml").write_text(CONFIG)
    results = str(tmp_path / "results")
    words = ["--config", str(tmp_path / "s.yaml"), "--tag", "release", "--tag", "nightly", "--results-dir", results]
    assert main(["run", *words]) == 0
    info = find_session("latest", Path(results)).info()
    assert info.tags == ("nightly", "gpu", "release")
    assert info.entry_tags == {"quick": ("smoke", "io/disk")}
    assert info.runs == {"quick": 3, "plain": 1}
    assert info.limits_s["quick"] == 40.0
    assert SessionInfo.from_json(info.to_json()) == info


def test_a_tag_is_one_word(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--tag", "two words", "--results-dir", str(tmp_path), "--", "/bin/true"]) == 2
    assert "--tag: a tag is one word" in capsys.readouterr().err
    (tmp_path / "s.yaml").write_text(CONFIG.replace("smoke", "'<b>'"))
    assert main(["run", "--config", str(tmp_path / "s.yaml"), "--results-dir", str(tmp_path)]) == 2
    assert "a tag is one word" in capsys.readouterr().err


def test_files_from_before_tags() -> None:
    info = SessionInfo.from_json({"name": "s", "started_at": "2026-03-01T02:00:00+00:00"})
    assert (info.tags, info.entry_tags, info.runs) == ((), {}, {})
