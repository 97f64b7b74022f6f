"""Where secrets stand in what a user wrote: options, `KEY=value`, addresses, headers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from urllib.parse import unquote

_SECRET_NAME = re.compile(
    r"(?:^|[_-])(?:token|secret|password|passwd|passphrase|api[_-]?key|access[_-]?key|private[_-]?key|credentials?|webhook"
    r"|authorization|bearer)(?:$|[_-])|[_-](?:pass|pwd)$",
    re.IGNORECASE,
)
_COUNT = re.compile(r"[_-](?:count|limit|length|size|budget|rate|ratio|per[_-].*)$", re.IGNORECASE)
_VARIABLE = re.compile(r"[_-]env$", re.IGNORECASE)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_PASSWORD = re.compile(r"[a-z][a-z0-9+.-]*://[^/\s:@]*:([^/\s@]+)@", re.IGNORECASE)
_QUERY = re.compile(r"[?&;]([\w.-]+)=([^&;#\s'\"]+)")
_HEADER = re.compile(
    r"\b(authorization|x-api-key|private-token)\s*[:=]\s*(?:(?:bearer|basic|token)\s+)?([^\s'\"]+)", re.I
)
_OPTION = re.compile(r"--?([A-Za-z][\w.-]*)(?:=(.*))?", re.DOTALL)
_ASSIGNMENT = re.compile(r"([A-Za-z_][\w.-]*)=(.*)", re.DOTALL)


def is_secret(name: str) -> bool:
    """Whether a name is a secret's, by its parts: `API_KEY`, `--db-password`, `accessToken`; not `max_tokens`, nor
    `token_limit`, nor `api-key-env`, which names the variable that has it."""
    apart = _CAMEL.sub("_", name)
    if _COUNT.search(apart) is not None or _VARIABLE.search(apart) is not None:
        return False
    return _SECRET_NAME.search(apart) is not None


def secret_variables(words: Iterable[str]) -> Iterator[str]:
    """Names of variables that hold a secret, as options say them: `--api-key-env MY_KEY`."""
    waiting = False
    for word in words:
        option, _, value = word.partition("=")
        if waiting and not word.startswith("--"):
            yield word
        named = _VARIABLE.search(option) is not None and is_secret(_VARIABLE.sub("", option).lstrip("-"))
        waiting = named and not value
        if named and value:
            yield value


def option_secret(word: str) -> str | None:
    """What stands behind `=` in an option or assignment of a secret; empty where nothing does, None for any other."""
    option = _OPTION.fullmatch(word)
    if option is not None:
        return (option[2] or "") if is_secret(option[1]) else None
    assignment = _ASSIGNMENT.fullmatch(word)
    if assignment is not None and is_secret(assignment[1].rpartition(".")[2]):
        return assignment[2]
    return None


def secrets_of_words(words: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Names, as those of environment variables, and values."""
    waiting = ""
    before = ""
    for word in words:
        user, colon, password = word.partition(":")
        if before in ("-u", "--user") and user and colon and not password.isdigit():
            yield "PASSWORD", password
        before = word
        if waiting and not word.startswith("--"):  # otherwise it was a switch without a value
            yield waiting, word
            waiting = ""
            continue
        waiting = ""
        secret = option_secret(word)
        if secret is not None:
            name = _variable(word.partition("=")[0].rpartition(".")[2])
            if secret:
                yield name, secret
            elif "=" not in word:
                waiting = name
        yield from secrets_of_text(word)


def secrets_of_text(text: str) -> Iterator[tuple[str, str]]:
    """Passwords and tokens in addresses, and in headers as they are given to `curl -H`."""
    if "://" in text:
        for found in _PASSWORD.finditer(text):
            yield "PASSWORD", found[1]
            if "%" in found[1]:
                yield "PASSWORD", unquote(found[1])
        for found in _QUERY.finditer(text):
            if is_secret(found[1]) or found[1].lower() in ("key", "sig", "signature"):
                yield _variable(found[1]), found[2]
    for found in _HEADER.finditer(text):
        yield _variable(found[1]), found[2]


def _variable(name: str) -> str:
    return re.sub(r"\W", "_", name.strip("-")).upper()
