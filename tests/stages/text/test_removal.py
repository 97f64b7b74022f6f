from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from assay.benchmarks import dedup_benchmark, removal_benchmark
from assay.benchmarks.data.documents import TRUTH, Corpus, write_documents
from assay.stages.text.documents import read_documents


def metrics(folder: Path) -> dict[str, Any]:
    written: dict[str, Any] = json.loads((folder / "metrics.json").read_text())
    return written


def remove(tmp_path: Path, source: Path, ids: Path, *more: str) -> dict[str, Any]:
    words = ["--input-path", str(source), "--ids-to-remove-path", str(ids), "--output-path", str(tmp_path / "out")]
    assert removal_benchmark.main([*words, "--benchmark-results-path", str(tmp_path / "results"), *more]) == 0
    return metrics(tmp_path / "results")


@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_rows_on_the_list_go_and_all_others_stay_as_they_are(tmp_path: Path, form: str) -> None:
    write_documents(tmp_path, Corpus(documents=400, files=4, seed=2, format=form))
    gone = {json.loads(line)["id"] for line in (tmp_path / TRUTH).read_text().splitlines()}
    measured = remove(tmp_path, tmp_path / "documents", tmp_path / TRUTH, "--files-per-partition", "3")
    assert measured["num_removed"] == len(gone) > 40
    assert measured["num_output_tasks"] == 2
    for stage in ("file_partitioning", f"{form}_reader", "id_removal", f"{form}_writer"):
        assert {f"stage_{stage}_process_time_{statistic}" for statistic in ("mean", "std", "sum")} <= set(measured)
    before, after = (
        [row for file in sorted((tmp_path / name).glob("*part-*")) for row in _rows(file)]
        for name in ("documents", "out")
    )
    assert after == [row for row in before if row["id"] not in gone]


def _rows(file: Path) -> list[dict[str, Any]]:
    return [row for rows in read_documents(str(file)) for row in rows.table().to_pylist()]


def test_kept_lines_are_copied_byte_for_byte(tmp_path: Path) -> None:
    odd = [
        b'{"id":7,"x":1.50, "s":"\\u00e9"}',
        b'{ "id" : 8 , "nested": {"id": 9} }',
        b'{"nested": {"id": 7}, "id": 123456789012345678, "id2": 7}',
    ]
    (tmp_path / "in.jsonl").write_bytes(b"\n\n".join(odd) + b"\n\n")
    (tmp_path / "ids.jsonl").write_text('{"id": 8}\n{"id": 1}\n')
    assert remove(tmp_path, tmp_path / "in.jsonl", tmp_path / "ids.jsonl")["num_removed"] == 1
    assert (tmp_path / "out" / "part-00000.jsonl").read_bytes() == odd[0] + b"\n" + odd[2] + b"\n"


def test_max_files_and_compressed_input(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for number in range(3):
        (tmp_path / "in" / f"{number}.jsonl.gz").write_bytes(gzip.compress(b'{"id": %d}\n' % number))
    pq.write_table(pa.table({"any_name": [0, 2]}), tmp_path / "ids.parquet")
    measured = remove(tmp_path, tmp_path / "in", tmp_path / "ids.parquet", "--max-files", "2")
    assert (measured["num_input_rows"], measured["num_removed"]) == (2, 1)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"id": 1', "in.jsonl:2: not JSON"),
        (b"[1, 2]", "in.jsonl:2: not a JSON object"),
        (b'{"other": 1}', "in.jsonl:2: id: the row has no such field"),
    ],
)
def test_bad_rows_are_named_by_file_and_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], line: bytes, message: str
) -> None:
    (tmp_path / "in.jsonl").write_bytes(b'{"id": 5}\n' + line + b"\n")
    (tmp_path / "ids.jsonl").write_text('{"id": 8}\n')
    words = ["--input-path", str(tmp_path / "in.jsonl"), "--ids-to-remove-path", str(tmp_path / "ids.jsonl")]
    words += ["--output-path", str(tmp_path / "out"), "--benchmark-results-path", str(tmp_path / "results")]
    assert removal_benchmark.main(words) == 2
    assert message in capsys.readouterr().err
    assert metrics(tmp_path / "results")["is_success"] is False
    assert not list((tmp_path / "out").iterdir())


def test_ids_of_another_kind_are_an_error_not_a_list_that_removes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "in.jsonl").write_text('{"id": 5}\n')
    (tmp_path / "ids.jsonl").write_text('{"id": "5"}\n')
    words = ["--input-path", str(tmp_path / "in.jsonl"), "--ids-to-remove-path", str(tmp_path / "ids.jsonl")]
    words += ["--output-path", str(tmp_path / "out"), "--benchmark-results-path", str(tmp_path / "results")]
    assert removal_benchmark.main(words) == 2
    assert "ids are numbers here and text in the list" in capsys.readouterr().err


def test_duplicates_found_can_be_removed(tmp_path: Path) -> None:
    write_documents(tmp_path, Corpus(documents=600, files=2, near=0.0, seed=4))
    words = ["--input-path", str(tmp_path / "documents"), "--known-duplicates", str(tmp_path / TRUTH)]
    words += ["--output-path", str(tmp_path / "found"), "--benchmark-results-path", str(tmp_path / "results")]
    assert dedup_benchmark.main(words) == 0
    found = metrics(tmp_path / "results")
    assert found["recall_exact"] == 1.0
    assert remove(tmp_path, tmp_path / "documents", tmp_path / "found")["num_removed"] == found["num_duplicates"] > 30
    left = [row["text"] for file in sorted((tmp_path / "out").glob("part-*")) for row in _rows(file)]
    assert len(left) == len(set(left))
    assert [path.name for path in (tmp_path / "found").iterdir()] == ["duplicates.parquet"]
