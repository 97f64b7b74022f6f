"""`assay accept`: an intended change becomes the baseline."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.cli.main import main
from assay.history import History

SCRIPT = """
import assay
with assay.benchmark() as b:
    b.metric("work_s", {seconds}, unit="s", better="lower")
    b.metric("score", 1.0, better="higher")
"""
CONFIG = "entries: [{name: work, script: work.py, repeat: 6%s}]\n"
LIMIT = ", requirements: [{metric: work_s, max_value: 0.2}]"


def assay(folder: Path, *words: str) -> int:
    return main([words[0], "--results-dir", str(folder / "results"), *words[1:]])


def run(folder: Path, seconds: float, more: str = "") -> int:
    (folder / "work.py").write_text(SCRIPT.format(seconds=seconds))
    (folder / "s.yaml").write_text(CONFIG % more)
    return assay(folder, "run", "--config", str(folder / "s.yaml"))


def test_an_accepted_level_is_the_baseline_until_it_is_taken_back(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(tmp_path, 0.1, LIMIT)
    assert run(tmp_path, 0.3, LIMIT) == 1  # missed, so no later session is compared with it
    run(tmp_path, 0.3)
    assert "regressed: work work_s 0.1 s → 0.3 s" in capsys.readouterr().out

    assert (
        assay(tmp_path, "accept", "work", "--session", "latest~1", "--reason", "three times the data", "--by", "Kim")
        == 0
    )
    said = capsys.readouterr().out
    assert "work: the level of " in said
    number = said.split("--undo ")[1].strip()
    assert run(tmp_path, 0.3) == 0
    assert "work_s" not in capsys.readouterr().out.partition("What changed")[2].partition("entry ")[0]
    with History.beside(tmp_path / "results", read_only=True) as history:
        [newest] = history.sessions(limit=1)
        mark = history.records(newest.name)[0].fingerprint
        assert [runs[0].metrics["work_s"].number for runs in history.baseline(mark, "2999-01-01", limit=9)] == [0.3] * 3
        series = next(one for one in history.series(metric="work_s"))
        assert len(history.values_by_session(series.id)) == 3
        assert len(history.points(series.id)) == 24

    assert assay(tmp_path, "accept", "--list") == 0
    assert [word in capsys.readouterr().out for word in ("Kim",)] == [True]
    assert main(["history", "--results-dir", str(tmp_path / "results"), "show", "work", "work_s"]) == 0
    assert "accepted as the baseline from " in capsys.readouterr().out
    assert main(["history", "--results-dir", str(tmp_path / "results"), "import", "--rebuild"]) == 0
    capsys.readouterr()
    assert assay(tmp_path, "accept", "--list") == 0
    assert "three times the data" in capsys.readouterr().out

    assert assay(tmp_path, "accept", "--undo", number) == 0
    with History.beside(tmp_path / "results", read_only=True) as history:
        assert len(history.baseline(mark, "2999-01-01", limit=9)) == 3  # the one that missed its limit is out again
        assert history.accepted() == []


def test_one_metric_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(tmp_path, 0.1)
    run(tmp_path, 0.3)
    assert assay(tmp_path, "accept", "work", "work_s", "--reason", "more data", "--by", "Kim") == 0
    with History.beside(tmp_path / "results", read_only=True) as history:
        counts = {one.metric: len(history.values_by_session(one.id)) for one in history.series()}
    assert (counts["work_s"], counts["score"]) == (1, 2)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["work"], "say why the change is intended: --reason TEXT"),
        (["wrok", "--reason", "x"], "did you mean 'work'?"),
        (["work", "works_s", "--reason", "x"], "did you mean 'work_s'?"),
        (["--undo", "7"], "nothing has been accepted under number 7"),
        ([], "give one of: an entry with its reason"),
        (["work", "--list"], "give one of: an entry with its reason"),
        (["work", "--reason", "x", "--session", "nightly-2"], "there is no session 'nightly-2'"),
    ],
)
def test_errors_say_what_to_do(words: list[str], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "one.yaml").write_text("entries: [{name: work, command: 'true'}]\n")
    (tmp_path / "work.py").write_text(SCRIPT.format(seconds=0.1))
    (tmp_path / "s.yaml").write_text((CONFIG % "").replace("6", "1"))
    assay(tmp_path, "run", "--config", str(tmp_path / "s.yaml"))
    capsys.readouterr()
    assert assay(tmp_path, "accept", *words) == 2
    assert says in capsys.readouterr().err
