"""All sentences of a surface, printed: what a test needs to look at them as a list."""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from assay.cli import main

Cases = Mapping[ModuleType, Mapping[str, Sequence[tuple[Any, ...]]]]
"""Arguments, or pairs of arguments and options, by module and function."""
Said = Sequence[tuple[str, str]]
"""Where a sentence is from, and the sentence."""

MOST_WORDS = 27
JARGON = re.compile(
    r"\b(p is|p-value|null hypothesis|confidence|interval holds|median|excludes|beyond|held against|equivalent"
    r"|two modes|(?<!-)base|head|cannot be told|would tell|unconfirmed|as a share|Student|bootstrap|quantile"
    r"|dictionary|instance of|token|scalar|None|True|False)\b"
)


def said(cases: Cases) -> list[tuple[str, str]]:
    found = []
    for module, functions in cases.items():
        for name, given in functions.items():
            for case in given:
                words, options = case if len(case) == 2 and isinstance(case[1], dict) else (case, {})
                answer = getattr(module, name)(*words, **options)
                texts = answer if isinstance(answer, list | tuple) else [answer]
                found += [(f"{module.__name__.rpartition('.')[2]}.{name}", text) for text in texts]
    return found


def assert_all_are_there(cases: Cases) -> None:
    """Every public function of the modules has its cases, and nothing else has."""
    for module, functions in cases.items():
        public = {
            name
            for name, found in inspect.getmembers(module, inspect.isfunction)
            if found.__module__ == module.__name__ and not name.startswith("_")
        }
        assert public == set(functions), module.__name__


def assert_golden(path: Path, sentences: Said) -> None:
    """`ASSAY_GOLDEN=write pytest …` writes it anew."""
    lines: list[str] = []
    for at, (where, text) in enumerate(sentences):
        lines += [where] if not at or sentences[at - 1][0] != where else []
        lines.append(f"    {text}".rstrip())
    printed = "\n".join(lines) + "\n"
    if os.environ.get("ASSAY_GOLDEN") == "write":
        path.parent.mkdir(exist_ok=True)
        path.write_text(printed, encoding="utf-8")
    assert printed == path.read_text(encoding="utf-8")


def assert_plain(text: str) -> None:
    assert len(text.split()) <= MOST_WORDS, "too long to read in passing"
    assert not JARGON.search(text)
    assert not re.search(r"[+-]\d+(\.\d+)?%", text), "a direction is a word, not a sign"


def commands(sentences: Said) -> list[str]:
    return sorted({command for _, text in sentences for command in re.findall(r"`(assay [^`]+)`", text)})


def assert_accepted(command: str) -> None:
    words = command.split()[1:]
    main._parser(main._find_command(words)).parse_args(words)
