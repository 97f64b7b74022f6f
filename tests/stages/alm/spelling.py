"""The same JSON in other words: spacing, escapes and line forms that mean nothing."""

from __future__ import annotations

import json
import random

FORMS = {
    "plain": {"ensure_ascii": False},
    "compact": {"ensure_ascii": False, "separators": (",", ":")},
    "escaped": {},
    "compact and escaped": {"separators": (",", ":")},
}
"""Arguments of json.dumps."""


def in_form(line: str, form: str) -> str:
    return json.dumps(json.loads(line), **FORMS[form])  # type: ignore[arg-type]


def respelled(line: str, rng: random.Random, share: float) -> str:
    """White space between tokens, and characters of strings, each changed with this probability."""
    made, at, inside = [], 0, False
    while at < len(line):
        size = 6 if line.startswith("\\u", at) and inside else 2 if line[at] == "\\" and inside else 1
        token = line[at : at + size]
        inside ^= token == '"'
        if rng.random() < share:
            token = _escaped(token, rng) if inside and size == 1 and token != '"' else token
            if not inside and token in "{}[],:":
                token = rng.choice(("", " ", "\t", "  ")) + token + rng.choice(("", " ", "\r", " \t"))
            elif not inside and token == " ":
                token = ""
        made.append(token)
        at += size
    return "".join(made)


def _escaped(character: str, rng: random.Random) -> str:
    if character == "/" and rng.random() < 0.5:
        return "\\/"
    units = character.encode("utf-16-be")
    codes = [f"{int.from_bytes(units[at : at + 2], 'big'):04x}" for at in range(0, len(units), 2)]
    return "".join("\\u" + (code.upper() if rng.random() < 0.5 else code) for code in codes)
