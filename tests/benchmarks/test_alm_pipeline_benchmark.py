from __future__ import annotations

import json
import sys
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

import pytest
from tests.stages.alm import oracle

from assay.benchmarks import test_benchmark
from assay.benchmarks.alm_pipeline_benchmark import main
from assay.record.tasks_file import read_tasks

FIXTURE = Path("tests/fixtures/audio/alm/sample_input.jsonl")


def run(tmp_path: Path, *words: str, manifest: Path = FIXTURE) -> dict[str, Any]:
    folder = tmp_path / "results"
    assert main(["--benchmark-results-path", str(folder), "--input-manifest", str(manifest), *words]) == 0
    return metrics(folder)


def metrics(folder: Path) -> dict[str, Any]:
    written: dict[str, Any] = json.loads((folder / "metrics.json").read_text())
    return written


def expected() -> list[dict[str, Any]]:
    lines = FIXTURE.read_text(encoding="utf-8").splitlines()
    return [oracle.curate(line, overlap={"overlap_percentage": 50}) for line in lines]


COUNTS = {
    "num_input_entries": 5,
    "num_output_entries": 5,
    "entries_with_windows": 5,
    "total_builder_windows": 143,
    "total_filtered_windows": 8,
}


def test_the_five_recordings_give_their_counts(tmp_path: Path) -> None:
    """The fixture's counts, written down: they change only if the fixture or the rules do."""
    found = run(tmp_path)
    assert {name: found[name] for name in COUNTS} == COUNTS
    records = expected()
    assert found["total_builder_windows"] == sum(len(record["windows"]) for record in records)
    assert found["total_filtered_windows"] == sum(len(record["filtered_windows"]) for record in records)
    # One after the other: since Python 3.12 `sum` makes up for what each addition rounds off.
    assert found["total_filtered_dur_s"] == reduce(add, (record["filtered_dur"] for record in records))
    assert found["is_success"] is True
    assert found["throughput_entries_per_sec"] == pytest.approx(5 / found["time_taken_s"])
    assert found["throughput_windows_per_sec"] == pytest.approx(found["total_builder_windows"] / found["time_taken_s"])
    params = json.loads((tmp_path / "results" / "params.json").read_text())
    assert params["target_window_duration"] == 120.0
    assert params["executor"] == "local"
    stages = {task.stage for task in read_tasks(tmp_path / "results").tasks}
    assert stages == {"alm_manifest_reader", "alm_data_builder", "alm_data_overlap", "alm_tally"}


def test_repeats_multiply_everything(tmp_path: Path) -> None:
    once, often = run(tmp_path), run(tmp_path, "--repeat-factor", "40", "--workers", "2")
    for name in ("num_input_entries", "total_builder_windows", "total_filtered_windows", "truncation_events"):
        assert often[name] == 40 * once[name]


def test_output_as_one_file_as_parts_and_as_parquet(tmp_path: Path) -> None:
    import pyarrow.parquet

    wanted = [json.loads(json.dumps(record)) for record in expected()]
    run(tmp_path, "--output-manifest", str(tmp_path / "out.jsonl"))
    assert [json.loads(line) for line in (tmp_path / "out.jsonl").read_bytes().splitlines()] == wanted
    run(tmp_path, "--output-manifest", str(tmp_path / "parts"))
    assert (tmp_path / "parts" / "part-00000.jsonl").read_bytes() == (tmp_path / "out.jsonl").read_bytes()
    run(tmp_path, "--output-manifest", str(tmp_path / "out.parquet"))
    rows = pyarrow.parquet.read_table(tmp_path / "out.parquet").to_pylist()
    assert [json.loads(row["filtered_windows"]) for row in rows] == [record["filtered_windows"] for record in wanted]
    assert [row["filtered_dur_list"] for row in rows] == [record["filtered_dur_list"] for record in wanted]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.jsonl", "out.parquet", "parts", "results"]


def test_parts_of_an_earlier_run_are_not_left_among_the_new(tmp_path: Path) -> None:
    parts = tmp_path / "parts"
    parts.mkdir()
    (parts / "part-00007.jsonl").write_text("{}\n")
    (parts / "mine.txt").write_text("kept")
    run(tmp_path, "--output-manifest", str(parts))
    assert sorted(path.name for path in parts.iterdir()) == ["mine.txt", "part-00000.jsonl"]


def test_parameters_reach_the_stages(tmp_path: Path) -> None:
    plain = run(tmp_path)
    assert run(tmp_path, "--no-truncation")["truncation_events"] == 0
    assert run(tmp_path, "--max-speakers", "1")["total_builder_windows"] == 0
    assert run(tmp_path, "--min-sample-rate", "96000")["total_builder_windows"] == 0
    assert run(tmp_path, "--overlap-percentage", "100")["total_filtered_windows"] > plain["total_filtered_windows"]
    out = tmp_path / "out.jsonl"
    run(tmp_path, "--output-manifest", str(out), "--drop-fields", "words,text", "--drop-fields-top-level", "lang")
    record = json.loads(out.read_text().splitlines()[0])
    assert "segments" in record
    assert "lang" not in record
    assert "text" not in record["windows"][0]["segments"][0]


def test_arguments_from_a_config_and_the_command_line_wins(tmp_path: Path) -> None:
    words = [
        "--config",
        "nightly-benchmark.yaml",
        "--entry",
        "alm_pipeline_local",
        "--benchmark-results-path",
        str(tmp_path),
        "--repeat-factor",
        "3",
    ]
    assert main(words) == 0
    assert metrics(tmp_path)["num_input_entries"] == 15
    assert json.loads((tmp_path / "params.json").read_text())["workers"] == 0


def test_of_several_entries_the_usual_one_is_meant_and_its_sinks_are_not_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("SLACK_CHANNEL_ID", raising=False)
    manifest = FIXTURE.resolve()
    monkeypatch.chdir(tmp_path)
    config = tmp_path / "nightly.yaml"
    entry = "- {{name: {}, script: alm_pipeline_benchmark.py, args: --input-manifest={} --repeat-factor={}}}\n"
    sinks = "sinks:\n- {name: slack, enabled: true, channel_id: '${SLACK_CHANNEL_ID}'}\n"
    entries = [entry.format(name, manifest, at) for at, name in enumerate(("alm_a", "alm_pipeline_xenna", "alm_b"), 1)]
    config.write_text(sinks + "entries:\n" + "".join(entries))
    assert main(["--config", "nightly.yaml"]) == 0
    assert metrics(tmp_path / "results" / "alm_pipeline_xenna")["num_input_entries"] == 10
    config.write_text("entries:\n" + entries[0] + entries[2])
    assert main(["--config", "nightly.yaml"]) == 2
    assert "say which --entry: 2 of them use alm_pipeline_benchmark.py (alm_a, alm_b)" in capsys.readouterr().err
    config.write_text("entries: [{name: other, command: 'true'}]")
    assert main(["--config", "nightly.yaml"]) == 2
    assert "nightly.yaml: none of its entries (other) uses alm_pipeline_benchmark.py" in capsys.readouterr().err


def test_bad_lines_fail_the_run_or_are_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    manifest = tmp_path / "m.jsonl"
    manifest.write_text(FIXTURE.read_text(encoding="utf-8") + '{"segments": 3}\n\n', encoding="utf-8")
    folder = tmp_path / "results"
    words = ["--benchmark-results-path", str(folder), "--input-manifest", str(manifest)]
    assert main(words) == 2
    assert f"{manifest}:6: segments: should be a list, is a number" in capsys.readouterr().err
    assert metrics(folder)["is_success"] is False
    found = run(tmp_path, "--on-bad-line", "skip", manifest=manifest)
    assert (found["num_input_entries"], found["num_output_entries"], found["num_skipped_entries"]) == (6, 5, 1)
    assert found["is_success"] is True
    assert (folder / "bad_lines.txt").read_text() == f"{manifest}:6: segments: should be a list, is a number\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--overlap-percentage", "101"], "--overlap-percentage: 101.0 is not between 0 and 100"),
        (["--repeat-factor", "0"], "--repeat-factor: 0 is less than 1"),
        (["--workers", "-1"], "--workers: -1 is not a number of workers"),
        (["--drop-fields", "end"], "--drop-fields: end cannot be dropped"),
        (["--input-manifest", "gone.jsonl"], "gone.jsonl: no such file"),
    ],
)
def test_what_cannot_be_is_refused(
    words: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base = ["--benchmark-results-path", str(tmp_path), "--input-manifest", str(FIXTURE)]
    assert main([*base, *words]) == 2
    assert message in capsys.readouterr().err


def test_only_blank_lines_hold_no_recording(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "m.jsonl").write_text("\n  \n\n")
    assert main(["--benchmark-results-path", str(tmp_path / "r"), "--input-manifest", str(tmp_path / "m.jsonl")]) == 2
    assert "m.jsonl:1: segments: no recording there, only blank lines" in capsys.readouterr().err


def test_the_fixture_is_what_the_generator_makes(tmp_path: Path) -> None:
    from assay.cli.main import main as assay

    made = tmp_path / "m.jsonl"
    words = ["--recordings", "5", "--seed", "20", "--segments", "64", "--word-timings"]
    assert assay(["data", "alm", str(made), *words]) == 0
    assert made.read_bytes() == FIXTURE.read_bytes()


def test_the_demonstration_benchmark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        sys, "argv", ["x", "--benchmark-results-path", str(tmp_path), "--iterations", "4", "--size", "50"]
    )
    test_benchmark.main()
    assert metrics(tmp_path)["num_iterations"] == 4
    assert len(json.loads((tmp_path / "metrics_detail.json").read_text())["sort_s"]["samples"]) == 4
