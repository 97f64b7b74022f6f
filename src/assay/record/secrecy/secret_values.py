"""Tells by its look whether a value could be a credential, or is a path, a number, an address or a plain word."""

from __future__ import annotations

import os
import re


def words_of(text: str) -> frozenset[str]:
    """Return the words of a text that lists them."""
    return frozenset(text.split())


_COMMON = words_of(
    """
    true false yes no on off none null nil default auto always never localhost main master root admin user guest test
    tests testing example sample demo dev development prod production stage staging local latest unknown enabled
    disabled required optional password passwd secret token apikey api-key key keys basic bearer digest anonymous
    public private python linux postgres mysql redis changeme empty unset missing hidden masked redacted prompt stdin
    random generate inherit inherited strict warn error info debug undefined string object
    """
)
"""Words too common to be looked for wherever they appear, whoever uses them as a password."""
_NUMBER = re.compile(r"[\d.,:_/ +-]*\d[\d.,:_/ -]*(?:[a-z%]{1,3})?|0x[0-9a-f]{1,8}|[+-]?[\d.]+e[+-]?\d+", re.IGNORECASE)
_REFERENCE = re.compile(
    r"\$\{?\w+(?::?[-+?=][^}]*)?\}?|\$\(.*\)|\$\{\{.*\}\}|%\w+%|\{+[\w.: -]*\}+|<[^<>]*>|\[[A-Z_]+\]"
    r"|\*+\w*\**|[xX.*-]+|env:\w+|@[\w./~-]+",
    re.DOTALL,
)
"""What stands for a value and isn't one: `$VAR`, `${VAR}`, `{placeholder}`, `<pad>`, `***`, `@file`."""
_PATH = re.compile(r"(?:~|\.{1,2})?/|[A-Za-z]:[\\/]|file://|~$")
_FILE = re.compile(r"[\w./-]*[A-Za-z_][\w-]*\.[A-Za-z][A-Za-z0-9]{0,4}|[\w-]+(?:/[\w.-]+)+")
_HOST = re.compile(r"[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}(?::\d+)?(?:/.*)?")
_EMAIL = re.compile(r"[\w.+-]+@[\w.-]+(?::[\w./~-]*)?")
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_WITH_CREDENTIALS = re.compile(
    r"://[^/\s@]{3,}@|^[^/\s:@]+:[^\s@]+@[\w(]|^[\w.@+-]+:(?=\S*\d)(?=\S*[A-Za-z])[^\s:/]{6,}$|\b(?:\w*key|password|pwd|passwd|token|sig|secret)=[^;&\s]{4}",
    re.IGNORECASE,
)
_PIECES = re.compile(r"[^A-Za-z0-9]+")
_PLAIN_PIECE = re.compile(
    r"[A-Z]?[a-z]{0,15}\d{0,4}|[A-Z]{1,12}\d{0,4}|\d{1,4}[A-Za-z]{0,3}|[A-Z]?[a-z]{2,12}(?:[A-Z][a-z]{1,12}){0,3}\d{0,3}"
)
_PLAIN_LENGTH = 24
_LEAST = 8
_LEAST_PASSWORD = 4
_LEAST_DIGITS = 8


def is_trivial(value: str) -> bool:
    """Whether a value says nothing, whatever its name: empty, a flag, a small number, a reference, a path."""
    text = value.strip().strip("\"'")
    if not text or text.lower() in ("true", "false", "yes", "no", "on", "off", "none", "null", "nil", "unset"):
        return True
    return (text.isdigit() and len(text) < _LEAST_PASSWORD) or bool(_REFERENCE.fullmatch(text)) or is_path(text)


def is_searchable(value: str, shortest: int) -> bool:
    """Whether a value is so rare that it may be masked wherever it appears."""
    text = value.strip()
    if len(text) < shortest or text.lower() in _COMMON or _REFERENCE.fullmatch(text):
        return False
    return not _NUMBER.fullmatch(text) or sum(map(str.isdigit, text)) >= _LEAST_DIGITS


def is_password(value: str) -> bool:
    """Whether a person could have chosen the value as a password."""
    text = value.strip()
    if len(text) < _LEAST_PASSWORD or text.lower() in _COMMON or is_trivial(text):
        return False
    return not _NUMBER.fullmatch(text)


def looks_like_credential(value: str) -> bool:
    """Whether a value looks generated: long, in one piece, and neither words, a number, a path nor an address."""
    text = value.strip()
    if not is_password(text) or len(text) < _LEAST:
        return False
    if text.startswith(("{", "-----BEGIN")):
        return len(text) >= 2 * _LEAST
    if _WITH_CREDENTIALS.search(text):
        return True
    if any(map(str.isspace, text)) or text.startswith(("arn:", "--", "sha256:")):
        return False
    if _ADDRESS.match(text) or _EMAIL.fullmatch(text) or _HOST.fullmatch(text):
        return False
    return not _is_file(text) and not is_plain(text)


def is_plain(text: str) -> bool:
    """Whether a text is made of words and short numbers: `user_id`, `gpt-4o-mini`, `learningRate`, `us-east-1`."""
    pieces = [piece for piece in _PIECES.split(text) if piece]
    if not re.fullmatch(r"[\w.:,/-]+", text):
        return False
    return all(len(piece) <= _PLAIN_LENGTH and _PLAIN_PIECE.fullmatch(piece) for piece in pieces)


def is_path(text: str) -> bool:
    """Whether a text is a path: one that exists, or one whose parts are words."""
    if not _PATH.match(text) or "\n" in text:
        return False
    parts = [part for part in re.split(r"[\\/]", text.removeprefix("file://")) if part]
    return all(is_plain(part.strip("~.")) or not part.strip("~.") for part in parts) or _exists(text)


def _is_file(text: str) -> bool:
    return bool(_FILE.fullmatch(text)) and is_plain(text)


def _exists(text: str) -> bool:
    try:
        return os.path.lexists(text)
    except (OSError, ValueError):
        return False
