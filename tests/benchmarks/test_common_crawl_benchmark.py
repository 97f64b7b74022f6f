from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from assay.benchmarks import common_crawl_benchmark
from assay.benchmarks.data.warc_files import TRUTH, write_warc_files


@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_archives_become_documents(tmp_path: Path, form: str) -> None:
    write_warc_files(tmp_path / "warc", files=3, pages=40, seed=9)
    words = ["--download_path", str(tmp_path / "warc"), "--output_path", str(tmp_path / "out"), "--url_limit", "2"]
    words += ["--output_format", form, "--executor", "local", "--workers", "2", "--detect-language"]
    assert common_crawl_benchmark.main([*words, "--benchmark-results-path", str(tmp_path / "results")]) == 0
    metrics = json.loads((tmp_path / "results" / "metrics.json").read_text())
    assert metrics["num_archives"] == 2
    assert metrics["num_pages"] == metrics["num_documents"] == 80
    assert (tmp_path / "results" / "tasks.jsonl").exists()
    parts = sorted((tmp_path / "out").iterdir())
    rows = [row for part in parts for row in _rows(part)]
    known = [json.loads(line) for line in (tmp_path / "warc" / TRUTH).read_text().splitlines()][:80]
    assert [row["url"] for row in rows] == [row["url"] for row in known]
    assert sum(row["language"] == sure["language"] for row, sure in zip(rows, known, strict=True)) > 70


def _rows(part: Path) -> list[dict[str, str]]:
    if part.suffix == ".parquet":
        rows: list[dict[str, str]] = pq.read_table(part).to_pylist()
        return rows
    return [json.loads(line) for line in part.read_text().splitlines()]


def test_archives_are_fetched_first_and_only_once(tmp_path: Path) -> None:
    made = write_warc_files(tmp_path / "elsewhere", files=2, pages=5, seed=1)
    (tmp_path / "urls.txt").write_text("".join(f"file://{path}\n" for path in made))
    words = ["--download_path", str(tmp_path / "here"), "--output_path", str(tmp_path / "out")]
    words += ["--urls", str(tmp_path / "urls.txt"), "--benchmark-results-path", str(tmp_path / "results")]
    for fetched in (2, 0):
        assert common_crawl_benchmark.main(words) == 0
        metrics = json.loads((tmp_path / "results" / "metrics.json").read_text())
        assert (metrics["num_fetched"], metrics["num_documents"]) == (fetched, 10)


@pytest.mark.parametrize(
    ("folder", "message"), [("nowhere", "no such folder"), ("empty", "no web archive there"), ("bad", "no WARC record")]
)
def test_what_cannot_be_read_is_one_message(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], folder: str, message: str
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "x.warc").write_bytes(b"not an archive" * 100)
    words = ["--download_path", str(tmp_path / folder), "--output_path", str(tmp_path / "out")]
    assert common_crawl_benchmark.main([*words, "--benchmark-results-path", str(tmp_path / "results")]) == 2
    said = capsys.readouterr().err
    assert message in said
    assert "Traceback" not in said
