from __future__ import annotations

import csv
import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from tests.sinks.sessions import Told, a_record

from assay.files.json_text import decode
from assay.record import Outcome, Record
from assay.sinks.delivery.outbox import Memory
from assay.sinks.delivery.sink_state import SinkState
from assay.sinks.file_sinks import AppendedFile

NASTY = "a|b <script>alert(1)</script> \x00\x1b & `x` =1+1 ]]> ![i](http://x)"


def a_session(tmp_path: Path, specs: list[dict]) -> Path:
    told = Told(tmp_path, specs)
    told.run(a_record(1))
    told.run(a_record(2, outcome=Outcome.MISSED, reasons=("speed: 4 is below 5",)))
    told.run(a_record(3, outcome=Outcome.TIMEOUT, reasons=("took longer than 5 s",)))
    told.run(a_record(4, outcome=Outcome.SKIPPED, reasons=("entry-3 did not pass",)))
    told.run(a_record(5, name=NASTY, run_id="nightly/nasty", script_metrics={"=cmd": "=1+1", "nan": float("nan")}))
    told.run(a_record(6, warmup=True))
    for status in told.end():
        assert status.state == "delivered", status
    return told.folder.path


def test_jsonl_holds_every_run_once_and_reads_back(tmp_path: Path) -> None:
    folder = a_session(
        tmp_path, [{"name": "jsonl"}, {"name": "all", "class": "jsonl", "path": "x.jsonl", "tasks": True}]
    )
    records = [Record.from_json(decode(line)) for line in (folder / "sinks/results.jsonl").read_text().splitlines()]
    assert [record.run_id for record in records][:2] == ["nightly/entry-1/run-01", "nightly/entry-2/run-01"]
    assert len(records) == 6
    assert records[0].tasks == ()
    assert json.loads((folder / "x.jsonl").read_text().splitlines()[0])["tasks"][0]["stage"] == "read"


def test_csv_has_a_row_for_each_metric_and_nothing_a_spreadsheet_would_run(tmp_path: Path) -> None:
    folder = a_session(tmp_path, [{"name": "csv"}])
    rows = list(csv.DictReader((folder / "sinks/metrics.csv").open(newline="")))
    speeds = [(row["entry"], row["value"], row["unit"], row["better"]) for row in rows if row["metric"] == "speed"]
    assert speeds[0] == ("entry-1", "2.0", "1/s", "higher")
    assert [row["value"] for row in rows if row["metric"] == "'=cmd"] == ["'=1+1"]
    assert {row["outcome"] for row in rows} >= {"passed", "missed", "timeout"}


def test_junit_counts_and_reasons_are_what_a_ci_reads(tmp_path: Path) -> None:
    folder = a_session(tmp_path, [{"name": "junit", "path": str(tmp_path / "ci" / "junit.xml")}])
    assert not (folder / "sinks/junit.xml").exists()
    suite = ElementTree.parse(tmp_path / "ci/junit.xml").getroot().find("testsuite")
    assert suite is not None
    assert {key: suite.get(key) for key in ("name", "tests", "failures", "errors", "skipped", "hostname")} == {
        "name": "nightly",
        "tests": "5",
        "failures": "1",
        "errors": "1",
        "skipped": "1",
        "hostname": "bench-1",
    }
    cases = suite.findall("testcase")
    assert cases[1].find("failure").get("message") == "speed: 4 is below 5"
    assert cases[2].find("error").get("type") == "timeout"
    assert cases[4].get("name").startswith("a|b <script>")
    properties = {p.get("name"): p.get("value") for p in cases[0].iter("property")}
    assert properties["speed"] == "2.0"


def test_the_github_summary_is_a_table_in_which_nothing_is_live(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "step.md"))
    (tmp_path / "step.md").write_text("what an earlier step wrote\n")
    a_session(tmp_path, [{"name": "github_summary", "metrics": ["speed"]}])
    text = (tmp_path / "step.md").read_text()
    assert text.startswith("what an earlier step wrote\n## Assay: nightly\n")
    assert "| ✅ | entry\\-1 | passed | 1.50 | 2 |" in text
    assert "speed: 4 is below 5" in text
    assert "<script>" not in text
    assert "![i](" not in text
    assert "entry-1: 3% faster" in text


def test_a_piece_is_appended_once_however_often_it_is_delivered(tmp_path: Path) -> None:
    state = SinkState(tmp_path / "state.sqlite")
    file = AppendedFile(tmp_path / "out", Memory(state), tmp_path)
    file.append("1", "one\n", heading="head\n")
    file.append("1", "one\n", heading="head\n")
    (tmp_path / "out").open("a").write("another session's\n")
    file.append("1", "one\n")
    file.append("2", "two\n")
    # Killed in the middle of writing: what is there is closed off, and the whole piece follows.
    (tmp_path / "out").open("a").write("thr")
    state.remember("written 3", (tmp_path / "out").stat().st_size - 3)
    file.append("3", "three\n")
    file.append("3", "three\n")
    assert (tmp_path / "out").read_text() == "head\none\nanother session's\ntwo\nthr\nthree\n"
