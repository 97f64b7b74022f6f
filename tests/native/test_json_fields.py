"""The JSONL scanner against the strict parser: where it is sure, it says the same; where orjson refuses, it is not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import orjson
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from assay.native.json_fields import ESCAPED, INTEGER, MISSING, NULL, OTHER, PLAIN, UNSURE, lines, scan, texts

NAMES = ["id", "text"]
UNSURE_ROW = object()


def scanned(block: bytes, names: list[str] | None = None) -> list[list[Any]]:
    """A row for each line that is not blank, None for a line of which the scanner is not sure; `...` is missing."""
    found = lines(block)
    fields = scan(block, found.at, names or NAMES)
    columns = [_values(block, *fields.column(field)) for field in range(fields.count)]
    return [None if UNSURE_ROW in row else row for row in (list(row) for row in zip(*columns, strict=True))]


def _values(block: bytes, values: memoryview, kinds: memoryview) -> list[Any]:
    content, offsets = texts(block, values, kinds)
    found: list[Any] = []
    for at, kind in enumerate(kinds):
        value = block[values[2 * at] : values[2 * at + 1]]
        if kind == MISSING:
            found.append(...)
        elif kind in (PLAIN, ESCAPED):
            assert (b"\\" in value) == (kind == ESCAPED)
            found.append(bytes(content[offsets[at] : offsets[at + 1]]).decode())
        elif kind == UNSURE:
            found.append(UNSURE_ROW)
        else:
            found.append(orjson.loads(value))
            assert (found[-1] is None) == (kind == NULL)
            assert kind in (INTEGER, NULL, OTHER)
            assert kind != INTEGER or type(found[-1]) is int
    return found


def check(line: bytes) -> bool:
    """Whether the scanner was sure of a line, which then has to be what orjson says."""
    (row,) = scanned(line)
    if row is None:
        return False
    whole = orjson.loads(line)
    assert isinstance(whole, dict)
    assert [repr(value) for value in row] == [repr(whole.get(name, ...)) for name in NAMES]
    return True


@pytest.mark.parametrize(
    "line",
    [
        b'{"id": "a", "text": "plain"}',
        b' \t{ "id" :7 ,\t"text":"x" } \r',
        b'{"text":"\\"quoted\\" \\\\ \\/ \\b\\f\\n\\r\\t \\u00e9 \\ud83d\\ude00","id":-12}',
        b'{"id": 1, "id": "last", "text": null}',
        b'{"nested": {"id": 7, "text": ["{", "}", {"a": [[], {}]}]}, "text": "out"}',
        b'{"id": 123456789012345678901234567890, "text": 1.5e10}',
        b'{"id": -0, "text": 0}',
        b'{"id": true, "text": [1, "]"]}',
        b"{}",
        '{"id": "ä日本😀", "text": "\u007f\u0080\ud7ff\ue000\U0010ffff"}'.encode(),
        b'{"text": "' + b"x" * 63 + b"\\n" + b"y" * 200 + b'"}',
        b'{"text": "\\u0000"}',
    ],
)
def test_usual_lines_are_sure_and_right(line: bytes) -> None:
    assert check(line)


@pytest.mark.parametrize(
    "line",
    [
        b'{"id": 1',
        b'{"id": 1} x',
        b"[1, 2]",
        b'"id"',
        b"\xef\xbb\xbf{}",
        b'{"\\u0069d": 1}',
        b'{"text": "\\ud800"}',
        b'{"text": "\\ud800\\u0041"}',
        b'{"text": "\\udc00"}',
        b'{"text": "\\x"}',
        b'{"text": "\\u12g4"}',
        b'{"text": "a\tb"}',
        b'{"text": "\x00"}',
        b'{"text": "\xff"}',
        b'{"text": "\xc0\xaf"}',
        b'{"text": "\xed\xa0\x80"}',
        b'{"text": "\xf4\x90\x80\x80"}',
        b'{"text": "\xe6\x97"}',
        b'{"id": 01}',
        b'{"id": +1}',
        b'{"id": 1.}',
        b'{"id": .5}',
        b'{"id": 1e}',
        b'{"id": 1e999}',
        b'{"id": -}',
        b'{"id": NaN}',
        b'{"id": nul}',
        b'{"id" 1}',
        b'{"id": 1,}',
        b'{,"id": 1}',
        b'{"id": [1,]}',
        b'{"id": [1}}',
        b'{"id": {"a" 1}}',
        b"{'id': 1}",
        b'{"id": ' + b"[" * 100 + b"]" * 100 + b"}",
    ],
)
def test_what_is_wrong_or_rare_goes_to_the_strict_parser(line: bytes) -> None:
    assert not check(line)


def test_blank_lines_are_passed_and_counted() -> None:
    block = b'\n{"id": 1}\r\n  \t\r\n\x0b\x0c\n{"id": 2}\n\n{"id": 3}'
    found = lines(block)
    assert (found.numbers.tolist(), found.seen) == ([1, 4, 6], 7)
    assert [row[0] for row in scanned(block)] == [1, 2, 3]
    assert len(lines(b"")) == 0
    assert scanned(b"") == []


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3) | st.sampled_from(NAMES), inner),
    max_leaves=8,
)


@settings(max_examples=300, deadline=None)
@given(
    st.dictionaries(st.sampled_from([*NAMES, "other", "ïd"]), json_values),
    st.booleans(),
    st.sampled_from([None, (",", ":"), (" ,\t", " :  ")]),
)
def test_what_is_written_is_found(row: dict[str, Any], ascii_only: bool, separators: tuple[str, str] | None) -> None:
    text = json.dumps(row, ensure_ascii=ascii_only, separators=separators)
    try:
        check(text.encode())
    except UnicodeEncodeError:
        pass


@settings(max_examples=300, deadline=None)
@given(json_values, st.data())
@example({"id": "é" * 40, "text": "😀" * 20}, None)
def test_a_changed_byte_never_makes_it_wrong(row: Any, data: st.DataObject | None) -> None:
    line = bytearray(json.dumps({"id": row, "text": row}, ensure_ascii=False).encode("utf-8", "surrogatepass"))
    line = bytearray(bytes(line).replace(b"\n", b" "))
    places = range(len(line)) if data is None else [data.draw(st.integers(0, len(line) - 1))]
    for at in places:
        for byte in (0x22, 0x5C, 0x7D, 0x80, 0xC3, 0xF4, 0x1F) if data is None else [data.draw(st.integers(11, 255))]:
            changed = bytearray(line)
            changed[at] = byte
            if bytes(changed).strip():
                check(bytes(changed).replace(b"\n", b" "))


@pytest.mark.parametrize("level", ["scalar", "avx2"])
def test_every_level_says_the_same(level: str) -> None:
    """The tests above run at the highest level here; again at the others."""
    chosen = ["-k", "usual or rare or blank or changed", "-p", "no:cacheprovider", "-q", __file__]
    environment = {**os.environ, "ASSAY_NATIVE": level}
    command = [sys.executable, "-m", "pytest", *chosen]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=200), st.integers(0, 70))
def test_utf8_is_what_python_says(raw: bytes, lead: int) -> None:
    inside = b"a" * lead + raw.translate(None, bytes(range(0x20)) + b'"\\')
    try:
        inside.decode()
        valid = True
    except UnicodeDecodeError:
        valid = False
    assert check(b'{"id": "' + inside + b'"}') == valid


def test_short_lines_in_great_number_are_all_found() -> None:
    block = b'{"id":1}\n' * 5_000
    assert len(lines(block)) == 5_000
