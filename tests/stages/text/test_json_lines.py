"""Rows of JSONL by the scanner and by the strict parser alone: the same rows, the same bytes, the same messages."""

from __future__ import annotations

import gzip
import json
import pickle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import DataError
from assay.pipeline import Split
from assay.stages.text import documents
from assay.stages.text.documents import JsonLines, JsonlWriter, read_documents
from assay.stages.text.id_set import IdSet


@pytest.fixture(params=["scanner", "strict parser"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "strict parser":
        monkeypatch.setattr(documents, "library", lambda: None)
        monkeypatch.setattr("assay.stages.text.id_set.library", lambda: None)
    return str(request.param)


def rows_of(block: bytes) -> JsonLines:
    return JsonLines.of(block, len(block), "in.jsonl")[0]


ODD = [
    b'{"id": "a", "n": 1}',
    b'  {"n": 2.50, "id": "\\u0061\\n"}\t\r',
    b'{"id": "x", "id": "last", "n": [1, {"id": 2}]}',
    '{"n": null, "id": "é"}'.encode(),
    b'{"\\u0069d": "escaped name", "n": true}',
    b'{"id": 12345678901234567890, "n": -1}',
]


def test_fields_are_what_the_parser_says(way: str) -> None:
    rows = rows_of(b"\n".join(ODD))
    parsed = [json.loads(line) for line in ODD]
    assert rows.columns("n", "id") == [[row["n"] for row in parsed], [row["id"] for row in parsed]]
    assert [rows.slice(at, at + 1).column("id")[0] for at in range(len(ODD))] == [row["id"] for row in parsed]
    assert rows.field_names() == ["id", "n"]


def test_blank_lines_are_no_rows_and_lines_keep_their_numbers(way: str) -> None:
    rows = rows_of(b'\n  \r\n{"id": 1}\n\x0b\n{"id": \n{"id": 3}')
    assert rows.line_numbers() == [3, 5, 6]
    with pytest.raises(DataError, match=r"in\.jsonl:5: not JSON"):
        rows.column("id")
    assert rows.without(b"\0\1\0").column("id") == [1, 3]


def test_pieces_are_the_lines_byte_for_byte(way: str) -> None:
    rows = rows_of(b"\n".join(ODD))
    assert b"".join(rows.pieces()) == b"".join(line + b"\n" for line in ODD)
    kept = rows.without(bytes([0, 1, 0, 0, 1, 0]))
    assert b"".join(kept.pieces()) == b"".join(ODD[at] + b"\n" for at in (0, 2, 3, 5))
    assert list(rows_of(b"").pieces()) == []


def test_only_what_is_left_travels(way: str) -> None:
    rows = rows_of(b"\n".join(ODD) + b"\n" + b'{"id": "%s"}' % (b"x" * 10_000)).slice(1, 4)
    sent = pickle.dumps(rows)
    assert len(sent) < 1_000
    there = pickle.loads(sent)
    assert there.line_numbers() == [2, 3, 4]
    assert there.column("id") == rows.column("id")
    together = JsonLines.concat([rows.slice(0, 1), there.slice(1, 3)])
    assert (together.line_numbers(), together.column("id")) == ([2, 3, 4], rows.column("id"))


@pytest.mark.parametrize("compressed", [False, True])
def test_lines_longer_than_a_block_and_without_an_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compressed: bool, way: str
) -> None:
    monkeypatch.setattr(documents, "BYTES", 64)
    texts = ["x" * size for size in (1, 63, 64, 65, 500, 3, 129)]
    content = "\n".join(json.dumps({"text": text}) for text in texts).encode()
    path = tmp_path / ("in.jsonl.gz" if compressed else "in.jsonl")
    path.write_bytes(gzip.compress(content) if compressed else content)
    read = list(read_documents(str(path)))
    assert [text for rows in read for text in rows.column("text")] == texts
    assert [number for rows in read for number in rows.line_numbers()] == list(range(1, 8))  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("listed", "ids", "gone"),
    [
        (["a", "é", "\n"], ['"a"', '"\\u00e9"', '"\\n"', '"b"', "7", "null", '["a"]'], [1, 1, 1, 0, 0, 0, 0]),
        ([7, -12, 3], ["7", "-12", "7.0", "7.5", "8", "1e400", "null", '"7"'], [1, 1, 1, 0, 0, None, 0, 0]),
        ([1 << 70, "a", None], ['"a"', "null", "1180591620717411303424", '"b"'], [1, 1, None, 0]),
        ([], ["1", '"a"'], [0, 0]),
    ],
)
def test_ids_are_equal_as_values_however_they_are_written(
    listed: list[Any], ids: list[str], gone: list[int | None], way: str
) -> None:
    wanted = [(one, flag) for one, flag in zip(ids, gone, strict=True) if flag is not None]
    rows = rows_of("\n".join(f'{{"id": {one}}}' for one, _ in wanted).encode())
    assert list(IdSet(listed).mark_listed(rows, "id", "in.jsonl")) == [flag for _, flag in wanted]


def test_numbers_are_not_looked_up_in_a_list_of_text(way: str) -> None:
    for listed, line in (("7", b'{"id": 7}'), (7, b'{"id": "7"}')):
        with pytest.raises(DataError, match="in the list of ids to remove"):
            IdSet([listed]).mark_listed(rows_of(line), "id", "in.jsonl")


words = st.text(alphabet='ab"\\\né ', max_size=4)


@settings(max_examples=100, deadline=None)
@given(st.lists(words, max_size=5), st.lists(words, min_size=1, max_size=30), st.booleans())
def test_the_table_of_ids_is_a_set(listed: list[str], ids: list[str], ascii_only: bool) -> None:
    rows = rows_of("\n".join(json.dumps({"id": one}, ensure_ascii=ascii_only) for one in ids).encode())
    assert list(IdSet(listed).mark_listed(rows, "id", "")) == [one in listed for one in ids]


def test_a_part_has_every_line_once(tmp_path: Path) -> None:
    """More pieces than the kernel takes at once."""
    lines = [b'{"id": %d}' % number for number in range(5_000)]
    rows = rows_of(b"\n".join(lines))
    odd = rows.without(bytes(number % 2 for number in range(5_000)))
    writer = JsonlWriter(tmp_path)
    writer.begin(Split(0))
    writer.process(odd)
    part = writer.finish()
    assert (part.rows, Path(part.path).read_bytes()) == (2_500, b"".join(line + b"\n" for line in lines[::2]))
