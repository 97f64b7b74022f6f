"""Fields of JSON lines: where the scanner is sure, a strict parser must say the same."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import orjson
from tests.native.fuzz.target import Target

from assay.native import json_fields
from assay.native.json_fields import ESCAPED, INTEGER, MISSING, NULL, OTHER, PLAIN, UNSURE

NAMES = ("id", "text", "a")


class FieldsTarget(Target):
    name = "fields"
    longest = 2048
    words = (
        '{"id": "', '", "text": "', '"a": ', "}\n", ": [{", "null", "true", "false", "\\u00e9", "\\ud83d\\ude00",
        "\\ud800",
        "\\udc00", "\\\\", '\\"', "\\/", "\xc3\xa9", "\xed\xa0\x80", "\xf0\x9f\x98\x80", "\xf4\x90\x80\x80", "-0",
        "1e5", "0.5",
        "123456789012345678901", "[]", "{}", "\r\n", "\t", "\x1f", "\x7f", '"\\u0069d": 1',
    )  # fmt: skip

    def seeds(self) -> Iterator[bytes]:
        values: list[Any] = [
            "plain text " * 12,
            'a "quote"\n\t\\ é 😀',
            -12,
            0,
            1.5e-7,
            None,
            True,
            [1, [{"id": 2}]],
            {"text": ""},
        ]
        for number, value in enumerate(values):
            line = {"id": f"doc-{number}", "text": value, "other": {"id": [value]}, "a": number}
            yield json.dumps(line).encode() + b"\n"
            yield json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode() + b"\r\n\n"
        yield b' { "a" : "first" , "a" : "last" } \n{"\\u0069d": 1}\n\xef\xbb\xbf{}\n'
        yield b'{"id":"\xff"}\n[1]\n{"id":01}\n{"id":1'

    def difference(self, data: bytes) -> str | None:
        found = json_fields.lines(data)
        lines = [line for line in data.split(b"\n") if line.strip(b" \t\v\f\r")]
        if [data[start:end] for start, end in zip(found.at[::2], found.at[1::2], strict=True)] != lines:
            return "other lines than those between line feeds"
        fields = json_fields.scan(data, found.at, NAMES)
        texts, offsets = json_fields.texts(data, fields.values, fields.kinds)
        for row, line in enumerate(lines):
            kinds = fields.kinds[row * len(NAMES) : (row + 1) * len(NAMES)]
            if UNSURE in kinds:
                if set(kinds) != {UNSURE}:
                    return f"sure of a part of {line!r}"
                continue
            try:
                strict = orjson.loads(line)
            except ValueError as error:
                return f"sure of {line!r}, which orjson refuses: {error}"
            if not isinstance(strict, dict):
                return f"sure of {line!r}, which is no object"
            for place, name in enumerate(NAMES):
                at = row * len(NAMES) + place
                value = data[fields.values[2 * at] : fields.values[2 * at + 1]]
                text = bytes(texts[offsets[at] : offsets[at + 1]])
                if not _agrees(fields.kinds[at], value, text, strict, name):
                    return f"{name} of {line!r} is {fields.kinds[at]} {value!r} {text!r}"
        return None


def _agrees(kind: int, value: bytes, text: bytes, strict: dict[str, Any], name: str) -> bool:
    if kind == MISSING:
        return name not in strict
    if name not in strict:
        return False
    real = strict[name]
    if kind in (PLAIN, ESCAPED):
        return isinstance(real, str) and text == real.encode() and (kind == ESCAPED or value == text)
    if text:
        return False
    if kind == NULL:
        return real is None and value == b"null"
    if kind == INTEGER:
        return type(real) is int and value == str(real).encode()
    return kind == OTHER and not isinstance(real, str) and real is not None and orjson.loads(value) == real


TARGET = FieldsTarget()
