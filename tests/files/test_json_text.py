from __future__ import annotations

import json
import math
import sys
from typing import Any

import pytest

from assay.files.json_text import DEEPEST, MOST_DIGITS, parse_json
from assay.files.reading import Unreadable


def reason(data: bytes) -> str:
    with pytest.raises(Unreadable) as caught:
        parse_json(data, "file.json")
    return caught.value.reason


@pytest.mark.parametrize(
    "value",
    [
        {"a": [1, 2.5, None, True, 'é " \\ [[[ {{{ 😀'], "b": {}},
        [[]] * 1000,
        {"deep in a string": "[" * 100_000, "digits in a string": "1" * 100_000, "quote": '\\"' * 5000 + "[" * 5000},
        [10 ** (MOST_DIGITS - 1)],
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_what_json_can_say_is_read(value: Any, encoding: str) -> None:
    for ascii_only in (True, False):
        assert parse_json(json.dumps(value, ensure_ascii=ascii_only).encode(encoding), "x") == value


def test_numbers_that_json_has_no_words_for_are_read() -> None:
    read = parse_json(b"[NaN, Infinity, -Infinity]", "x")
    assert math.isnan(read[0])
    assert read[1:] == [math.inf, -math.inf]


@pytest.mark.parametrize("opening", ["[", '{"a":'])
@pytest.mark.parametrize("closed", [True, False])
def test_nesting_is_refused_before_the_parser_recurses(opening: str, closed: bool) -> None:
    closing = "]" if opening == "[" else "}"
    for depth in (DEEPEST + 1, 900, 100_000):
        text = "\n" + opening * depth + (f"1{closing * depth}" if closed else "")
        assert reason(text.encode()) == f"is nested deeper than {DEEPEST} levels in line 2"
    text = opening * DEEPEST + "1" + closing * DEEPEST
    assert parse_json(text.encode(), "x")


def test_digits_are_refused_before_the_parser_counts_them() -> None:
    assert reason(b'{"a": 1,\n"b": ' + b"7" * 5000 + b"}") == "has a number of more than 4300 digits in line 2"
    for before in range(0, MOST_DIGITS + 2, 43):
        assert reason(b" " * before + b"7" * (MOST_DIGITS + 1)) == "has a number of more than 4300 digits in line 1"
        assert parse_json(b" " * before + b"7" * MOST_DIGITS, "x")
    assert reason(b"0." + b"7" * 5000) == "has a number of more than 4300 digits in line 1"


def test_an_interpreter_that_reads_fewer_digits_surprises_nobody() -> None:
    most = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(640)
    try:
        assert reason(b"[" + b"7" * 1000 + b"]").startswith("cannot be read as JSON: Exceeds the limit")
    finally:
        sys.set_int_max_str_digits(most)


def test_a_key_that_stands_twice_is_refused_except_in_what_assay_wrote() -> None:
    assert reason(b'{"a": {"b": 1, "c": 2, "b": 3}}') == "has the key 'b' twice in one object"
    assert parse_json(b'{"b": 1, "b": 3}', "x", own=True) == {"b": 3}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (r'"\ud800"', "\ufffd"),
        (r'"a\uDC80b"', "a\ufffdb"),
        (r'"\ud83d\ude00"', "😀"),
        (r'"\ud83d\ud83d\ude00"', "\ufffd😀"),
        (r'"\\ud800"', r"\ud800"),
        (r'{"\udfff": 1}', {"\ufffd": 1}),
    ],
)
def test_half_a_surrogate_pair_becomes_what_utf8_can_hold(text: str, value: Any) -> None:
    assert parse_json(text.encode(), "x") == value
    json.dumps(parse_json(text.encode(), "x"), ensure_ascii=False).encode()


def test_two_names_that_would_become_one_are_refused() -> None:
    assert reason(rb'{"\ud800": 1, "\ud801": 2}') == "has the key '\ufffd' twice in one object"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'{\n "a": }', "is not valid JSON: line 2, column 7: Expecting value"),
        (b"", "is not valid JSON: line 1, column 1: Expecting value"),
        (b'"\xff"', "is not valid UTF-8: invalid start byte at byte 1"),
        (b'"\xed\xa0\x80"', "is not valid UTF-8: invalid continuation byte at byte 1"),
    ],
)
def test_what_is_no_json_is_named_with_its_place(data: bytes, message: str) -> None:
    assert reason(data) == message


def test_escapes_without_end_take_one_pass() -> None:
    """Where each escape or digit were looked at again from every one before it, this would take hours."""
    assert reason(b'"' + b'\\"' * 4_000_000).startswith("is not valid JSON")
    assert reason(b'"' + b"\\ud800" * 1_000_000).startswith("is not valid JSON")
    assert reason(b"[" + (b"7" * MOST_DIGITS + b",") * 5_000).startswith("is not valid JSON")
