"""Where secrets stand in what a user wrote: options, `KEY=value`, JSON, scripts, addresses, headers."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import quote, quote_plus, unquote

from assay.record.secret_names import Secrecy, is_secret, secrecy
from assay.record.secret_shapes import (
    ADDRESS,
    MARKS,
    TOKEN,
    TOKEN_STARTS,
    find_shapes,
    is_searchable,
    is_trivial,
    looks_like_credential,
)

__all__ = [
    "SHORTEST",
    "Masker",
    "find_secrets",
    "is_secret",
    "option_secret",
    "places_of_words",
    "secret_variables",
    "secrets_of_text",
]


_CERTAIN = 8
"""Least characters of an encoded piece that is looked for."""


def secret_forms(value: str) -> set[str]:
    """A secret as it is met: plain, in an address, in JSON, quoted by Python, within base64, and by its lines."""
    if not value.isalnum() or not value.isascii():
        encoded = value.encode("utf-8", "surrogateescape")
        forms = {value, quote(encoded, safe=""), quote(encoded), quote_plus(encoded), repr(value)[1:-1]}
        forms |= {json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]}
    else:
        forms = {value}
    lines = {line.strip() for line in value.splitlines()}
    return forms | _in_base64(value) | {line for line in lines if len(line) >= _CERTAIN and "-----" not in line}


def _in_base64(value: str) -> set[str]:
    """Parts of base64 that surely hold the value where `user:value` was encoded in one piece: one part for each of the
    three ways that its bytes can fall."""
    data = value.encode("utf-8", "surrogateescape")
    forms = set()
    for before in range(3):
        written = b64encode(bytes(before) + data).decode()
        whole = (before + len(data)) * 8 // 6
        piece = written[(before * 8 + 5) // 6 : whole]
        if len(piece) >= _CERTAIN:
            forms |= {piece, piece.replace("+", "-").replace("/", "_")}
    return forms


_VARIABLE = re.compile(r"[_-]env$", re.IGNORECASE)
_OPTION = re.compile(r"--?([A-Za-z][\w.-]*)(?:=(.*))?", re.DOTALL)
_ASSIGNMENT = re.compile(r"([A-Za-z_][\w.-]*)=(.*)", re.DOTALL)
_PAIR = re.compile(
    r"(?<![\w$.-])(?:--?)?(?P<name>[A-Za-z_][\w.-]{0,100})"
    r"(?P<between>\\*[\"']?\]?\s{0,3}(?P<sign>[:=])\s{0,3}|(?<=\w)\s+)"
)
"""A name and what stands between it and its value; white space alone only behind an option."""
_VALUE = re.compile(
    r"(?P<quote>\\*[\"'])(?P<quoted>.*?)(?P=quote)|(?P<plain>[^\s\"'`,;&|<>(){}\[\]\\]+)(?P<code>[(\[]?)", re.DOTALL
)
_QUERY = re.compile(r"[?&;]([\w.-]+)=([^&;#\s'\"\\]+)")
_QUERY_NAMES = ("key", "sig", "signature")
_USER = re.compile(r"(?<!\S)(?:-u|--user|--proxy-user)[ =]\s*[\"']?[^\s:\"'/]+:(?P<secret>[^\s\"']+)")
_TOOL = re.compile(
    r"\b(?:sshpass\s+-p\s*|redis-cli\b[^|;&\n]*?\s-a\s+|(?:mysql|mariadb)\w*\b[^|;&\n]*?\s-p(?=\S)"
    r"|docker\s+login\b[^|;&\n]*?\s-p\s+|smbclient\b[^|;&\n]*?\s-U\s*[^\s%]+%"
    r"|login\s+\S+\s+password\s+)[\"']?(?P<secret>[^\s\"']+)"
)
"""Programs whose option for a password has one letter, and lines of a `.netrc`."""
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z_.]*")
_LONGEST_TEXT = 1 << 20


def secret_variables(words: Iterable[str]) -> Iterator[str]:
    """Names of variables that hold a secret, as options say them: `--api-key-env MY_KEY`."""
    waiting = False
    for word in words:
        option, _, value = word.partition("=")
        if waiting and not word.startswith("--"):
            yield word
        name = _VARIABLE.sub("", option).lstrip("-")
        named = _VARIABLE.search(option) is not None and secrecy(name) is not Secrecy.NONE
        waiting = named and not value
        if named and value:
            yield value


def option_secret(word: str) -> tuple[str, str | None] | None:
    """The name of an option or assignment that may hold a secret, and what stands behind `=`, None without one."""
    found = _OPTION.fullmatch(word) or _ASSIGNMENT.fullmatch(word)
    if found is None:
        return None
    name = found[1].rpartition(".")[2]
    return (name, found[2]) if secrecy(name) is not Secrecy.NONE else None


def secrets_of_words(words: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Names, as those of environment variables, and values; each value once."""
    words = list(words)
    found: dict[str, str] = {}
    for word, places in zip(words, places_of_words(words), strict=True):
        for name, start, end in places:
            found.setdefault(word[start:end], name)
    for tool in _TOOL.finditer(" ".join(words)[:_LONGEST_TEXT]):
        found.setdefault(tool["secret"], "PASSWORD")
    for value, name in found.items():
        yield name, value
        if "%" in value:
            yield name, unquote(value)


def places_of_words(words: Iterable[str]) -> Iterator[list[tuple[str, int, int]]]:
    """For each word the names of the secrets in it, and where they begin and end."""
    waiting = ""
    before = ""
    for word in words:
        places: list[tuple[str, int, int]] = []
        user, colon, password = word.partition(":")
        if before in ("-u", "--user") and user and colon and password and not password.isdigit() and "/" not in user:
            places.append(("PASSWORD", len(user) + 1, len(word)))
        before = word
        option = option_secret(word)
        if waiting and not word.startswith("--") and is_secret(waiting, word):
            places.append((_variable(waiting), 0, len(word)))
            option = None
        elif option is not None and option[1] is not None and _is_one(word, option[1]) and is_secret(*option):
            places.append((_variable(option[0]), len(word) - len(option[1]), len(word)))
        else:
            places += find_secrets(word)
        waiting = option[0] if option is not None and option[1] is None else ""
        yield places


def secrets_of_text(text: str) -> Iterator[tuple[str, str]]:
    """Names and values of the secrets in a text."""
    for name, start, end in find_secrets(text):
        yield name, text[start:end]
        if "%" in text[start:end]:
            yield name, unquote(text[start:end])


def find_secrets(text: str) -> Iterator[tuple[str, int, int]]:
    """Names of the secrets in a text, and where they begin and end: by shape, and by the names before them."""
    text = text[:_LONGEST_TEXT]
    for name, start, end in find_shapes(text):
        if not is_trivial(text[start:end]):
            yield name, start, end
    if "=" not in text and ":" not in text and "-" not in text:
        return
    if "://" in text:
        for found in _QUERY.finditer(text):
            if is_secret(found[1], found[2]) or (found[1].lower() in _QUERY_NAMES and not is_trivial(found[2])):
                yield _variable(found[1]), *found.span(2)
    for pattern in (_USER, _TOOL):
        for found in pattern.finditer(text):
            if not found["secret"].isdigit() and not is_trivial(found["secret"]):
                yield "PASSWORD", *found.span("secret")
    yield from _find_pairs(text)


def _is_one(word: str, value: str) -> bool:
    """Whether all behind `=` is one value: not in a script that begins with one (`PGPASSWORD=x psql`)."""
    is_script = _ASSIGNMENT.fullmatch(word) and "." not in word[: len(word) - len(value)]
    return not (is_script and any(map(str.isspace, value.strip())))


def _find_pairs(text: str) -> Iterator[tuple[str, int, int]]:
    for found in _PAIR.finditer(text):
        is_option = text[found.start()] == "-"
        if found["sign"] is None and not is_option:
            continue
        name = found["name"].rpartition(".")[2]
        if secrecy(name) is Secrecy.NONE:
            continue
        value = _VALUE.match(text, found.end())
        if value is None or value.group().startswith("--"):
            continue
        group = "plain" if value["quoted"] is None else "quoted"
        if group == "plain" and not is_option and not _is_meant(text, found, value):
            continue
        if is_secret(name, value[group]):
            yield _variable(name), *value.span(group)


def _is_meant(text: str, name: re.Match[str], value: re.Match[str]) -> bool:
    """Whether what stands unquoted behind a name is its value: not if it is a piece of a program or of a sentence."""
    if value["code"]:
        return False
    if name["sign"] == ":":
        is_header = "-" in name["name"] and name.start() == 0 and value.end() == len(text)
        return is_header or looks_like_credential(value["plain"])
    spaced = name["between"] != "="
    inside = text[name.start() - 1 : name.start()] in ("(", ",") or text[value.end() : value.end() + 1] in (")", ",")
    return not (_IDENTIFIER.fullmatch(value["plain"]) and (spaced or inside))


def _variable(name: str) -> str:
    return re.sub(r"\W", "_", name.strip("-")).upper()


SHORTEST = 6
"""Characters of a value that is looked for everywhere; shorter ones are too likely to be part of something else."""


class Masker:
    """Keeps secrets out of what is kept and shown: known values, values of options by name, and what has the shape of
    a secret.

    A value is shown as `***NAME***`, after the variable, option or key that it was given by; where it comes in one of
    the usual encodings, as `***NAME_ENCODED***`.
    """

    def __init__(self, environment: Mapping[str, str], found: Iterable[tuple[str, str]] = ()) -> None:
        """`found`: names and values of secrets that come from elsewhere; without a name one is shown as `***`."""
        self._names: dict[str, str] = {}
        for name, value in environment.items():
            if is_secret(name, value):
                self._names.setdefault(value, name)
        for name, value in environment.items():
            if len(value) >= SHORTEST:
                self._add((f"{name}_{kind}", secret) for kind, secret in secrets_of_text(value))
        self._add(found)
        known: dict[str, str] = {}
        for value, name in self._names.items():
            if is_searchable(value, SHORTEST):
                # Another name, so that what is put back for it (`--resume`) is never the plain value.
                encoded = f"{name}_ENCODED" if name else ""
                known |= {form: name if form == value else encoded for form in secret_forms(value)}
        # Longest first: one secret may contain another.
        self._values = sorted(known.items(), key=lambda item: -len(item[0]))

    def _add(self, found: Iterable[tuple[str, str]]) -> None:
        taken = set(self._names.values())
        for name, value in found:
            if not value or value in self._names:
                continue
            unique, number = name, 2
            while unique and unique in taken:
                unique, number = f"{name}_{number}", number + 1
            taken.add(unique)
            self._names[value] = unique

    @property
    def replacements(self) -> list[tuple[bytes, bytes]]:
        """What is to be replaced in a stream of bytes, and by what; longest first."""
        return [(value.encode("utf-8", "surrogateescape"), _placeholder(name).encode()) for value, name in self._values]

    @property
    def shapes(self) -> dict[str, Any]:
        """Patterns of what else is replaced in a stream of bytes, as `process` takes them."""
        return {
            "token": TOKEN.encode(),
            "starts": [start.encode() for start in TOKEN_STARTS],
            "address": ADDRESS.encode(),
            "marks": [[mark.encode(), pattern.encode()] for mark, pattern in MARKS],
        }

    def text(self, text: str) -> str:
        for value, name in self._values:
            if value in text:
                text = text.replace(value, _placeholder(name))
        return _put(text, ((start, end, "***") for _, start, end in find_shapes(text)))

    def words(self, argv: list[str]) -> list[str]:
        """`--api-key VALUE`, `--api-key=VALUE`, `….API_KEY=VALUE` and `{"api_key": "VALUE"}` are masked whatever the
        value, if it isn't trivial."""
        return [self._places(word, places) for word, places in zip(argv, places_of_words(argv), strict=True)]

    def script(self, text: str) -> str:
        """A text that a user wrote, such as a command for a shell: names in it are taken at their word."""
        return self._places(text, find_secrets(text))

    def _places(self, text: str, places: Iterable[tuple[str, int, int]]) -> str:
        return self.text(_put(text, ((start, end, self._whole(text[start:end])) for _, start, end in places)))

    def _whole(self, value: str) -> str:
        return _placeholder(self._names.get(value, ""))

    def value(self, value: Any, name: str = "") -> Any:
        """Names of a mapping are masked too; where two become the same, the later ones are numbered."""
        if isinstance(value, str):
            return self._whole(value) if name and is_secret(name, value) else self.text(value)
        if isinstance(value, Mapping):
            masked: dict[Any, Any] = {}
            for key, item in value.items():
                shown = self.text(key) if isinstance(key, str) else key
                number = 2
                while shown != key and (shown in masked or shown in value):
                    shown, number = f"{self.text(key)} ({number})", number + 1
                masked[shown] = self.value(item, str(key))
            return masked
        if isinstance(value, list | tuple):
            return type(value)(self.value(item) for item in value)
        return value


def _placeholder(name: str) -> str:
    return f"***{name}***" if name else "***"


def _put(text: str, places: Iterable[tuple[int, int, str]]) -> str:
    """The text with other text at these places; of places that overlap, the longest of the first."""
    pieces: list[str] = []
    done = 0
    for start, end, shown in sorted(places, key=lambda place: (place[0], -place[1])):
        if start >= done:
            pieces += [text[done:start], shown]
            done = end
    return "".join([*pieces, text[done:]]) if pieces else text
