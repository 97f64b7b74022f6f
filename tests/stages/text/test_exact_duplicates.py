"""Exact duplicates in JSONL: the compiled way gives what the general one does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from assay.benchmarks import dedup_benchmark
from assay.benchmarks.data.documents import TRUTH, Corpus, write_documents
from assay.stages.text import exact_duplicates


def found(folder: Path, out: Path, *more: str) -> tuple[dict[str, Any], list[tuple[Any, Any]]]:
    words = ["--input-path", str(folder), "--output-path", str(out), "--benchmark-results-path", str(out / "results")]
    assert dedup_benchmark.main([*words, *more]) == 0
    measured = json.loads((out / "results" / "metrics.json").read_text())
    return measured, [tuple(row.values()) for row in pq.read_table(out / "duplicates.parquet").to_pylist()]


def compared(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *more: str) -> list[tuple[Any, Any]]:
    """What both ways found, with the same counts."""
    measured, pairs = found(folder, tmp_path / "compiled", *more)
    with monkeypatch.context() as patch:
        patch.setattr(dedup_benchmark, "can_digest", lambda paths: False)
        general, expected = found(folder, tmp_path / "general", *more)
    assert pairs == expected
    counts = [name for name in general if name.startswith(("num_", "recall_", "is_"))]
    assert {name: measured[name] for name in counts} == {name: general[name] for name in counts}
    return pairs


def test_a_corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_documents(tmp_path, Corpus(documents=900, files=3, exact=0.3, seed=11))
    known = ["--known-duplicates", str(tmp_path / TRUTH), "--files-per-partition", "2"]
    assert len(compared(tmp_path / "documents", tmp_path, monkeypatch, *known)) > 200


def test_many_ranges_of_digests_and_more_workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact_duplicates, "DOCUMENTS_A_RANGE", 50)
    write_documents(tmp_path, Corpus(documents=300, files=3, exact=0.3, seed=12))
    assert len(compared(tmp_path / "documents", tmp_path, monkeypatch, "--workers", "2")) > 50


def test_texts_are_compared_as_texts_however_they_are_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "in").mkdir()
    lines = [
        b'{"id": 1, "text": "a\\u00e9/"}',
        '{ "text":"aé\\/", "id": 2 }\r'.encode(),
        b'{"id": 3, "text": ""}',
        b"",
        b'{"id": 4, "text": null}',
        b'{"id": 5, "text": "first", "text": "a\\u00E9/"}',
        b'{"id": 6, "text": "A\\u00e9/"}',
    ]
    (tmp_path / "in" / "a.jsonl").write_bytes(b"\n".join(lines))
    (tmp_path / "in" / "b.jsonl").write_bytes(b"\n\n")
    (tmp_path / "in" / "c.jsonl").write_bytes(b'{"t\\u0065xt": "", "id": 7}\n{"id": 8, "text": "A\xc3\xa9/"}')
    pairs = compared(tmp_path / "in", tmp_path, monkeypatch)
    assert pairs == [(2, 1), (4, 3), (5, 1), (7, 3), (8, 6)]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"id": 2, "text": 5}', "in.jsonl:2: text: not text"),
        (b'{"id": 2, "text": ["x"]}', "in.jsonl:2: text: not text"),
        (b'{"\\u0069d": 2, "text": 5}', "in.jsonl:2: text: not text"),
        (b'{"id": 2}', "in.jsonl:2: text: the row has no such field"),
        (b'{"id": 2, "text": "x"', "in.jsonl:2: not JSON"),
    ],
)
def test_rows_without_text_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], line: bytes, message: str
) -> None:
    (tmp_path / "in.jsonl").write_bytes(b'{"id": 1, "text": "x"}\n' + line)
    words = ["--input-path", str(tmp_path / "in.jsonl"), "--output-path", str(tmp_path / "out")]
    assert dedup_benchmark.main([*words, "--benchmark-results-path", str(tmp_path / "results")]) == 2
    assert message in capsys.readouterr().err
    assert not list((tmp_path / "out").glob("**/*"))


def test_the_list_can_be_jsonl(tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text('{"name": "a\\n", "text": "x"}\n{"name": "b", "text": "x"}\n')
    words = ["--input-path", str(tmp_path / "in.jsonl"), "--output-path", str(tmp_path / "out"), "--id-field", "name"]
    words += ["--output-format", "jsonl", "--benchmark-results-path", str(tmp_path / "results")]
    assert dedup_benchmark.main(words) == 0
    assert [json.loads(line) for line in (tmp_path / "out" / "duplicates.jsonl").read_text().splitlines()] == [
        {"name": "b", "duplicate_of": "a\n"}
    ]
    assert json.loads((tmp_path / "results" / "params.json").read_text())["kernel"] != "none"
