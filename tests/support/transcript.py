"""Command lines as a user types them, with what they answered and wrote, as text that is the same every time.

A step is a line: `assay …`, as in a shell but without one (`NAME=value` in front sets a variable), or one of these that
look at what was written:

- `ls FOLDER`: every path in it; `top FOLDER`: only its own names
- `cat FILE`: its text; `head FILE`: its first lines
- `keys FILE`: which keys the JSON has, or each line of JSON lines, without their values
- `values FILE`: the same with the values that are not measured
- `page FILE`: title and headings of an HTML page
- `digest FILE`: of its bytes

A name may hold `*` where one path fits.
"""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from workplace import Workplace

ROOT = Path(__file__).parent.parent.parent

ADDRESS = (r"http://127\.0\.0\.1:\d+", "http://127.0.0.1:PORT")
_NOT_KEPT = r'(?<!fingerprint\.params: ")(?<!workload: "script )(?<!workload: "command )'
"""What was run is told apart by these digests: were they others, a series would begin anew."""
ALWAYS = (
    (r"(?<!\d)20\d{6}T\d{6}\.\d+-[^/\s]+-\d+", "JOB"),
    (r"(?<!\d)20\d{6}-\d{6}(?!\d)", "TIME"),
    (r"(?<!\d)20\d\d-\d\d-\d\d__\d\d-\d\d-\d\d(?:-\d+)?", "TIME"),
    (r"(?<!\d)20\d\d-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+]00:00)?", "TIME"),
    (rf"{_NOT_KEPT}\b(?:[0-9a-f]{{48}}|[0-9a-f]{{40}}|[0-9a-f]{{32}}|[0-9a-f]{{12}})\b", "DIGEST"),
    ADDRESS,
    (r"(?m)^h2: What stands out\n", ""),
    (r'"[^"\n]*, \d+ cores?, \d+ GB, [^"\n]*"', '"MACHINE"'),
    (r"(?m)^((?:TIME )?)\S+: [^\n]*, \d+ cores?, \d+ GB, [^\n]*$", r"\1MACHINE"),
    (r"(?m)^ *Also different: .*\n(?:.*\S.*\n)*", ""),
    (r"  +Also different: .*(?:\n.*\S.*)*", ""),
    (r"(?m)^ *\((?:CPU time taken by|CPUs kept busy by|time held back by)[^)]*\)\n", ""),
)
BESIDE = re.compile(r"(?m)^.*warning: another (?:session|job of this session) is running on this machine.*\n")
"""Tests that run at the same time, or a colleague's."""
_UNIT = r"(?:ns|µs|ms|s|min|h|B|KB|kB|MB|GB)"
_NUMBER = r"\d[\d,]*(?:\.\d+)?(?:e[-+]\d+)?"
TIMES = (
    (rf"(?:{_NUMBER} […→] )?{_NUMBER} {_UNIT}(?: \d+ s)?(?: ± {_NUMBER} {_UNIT})?(?![\w/])", "#"),
    (rf"\b{_NUMBER} seconds\b", "# seconds"),
    (r"[█▏▎▍▌▋▊▉]+", "BAR"),
)
"""What takes time or memory; counts stay."""
FIGURES = (*TIMES, (rf"(?<![\w.:/-])(?:[-−+±]?{_NUMBER}(?: ?(?:{_UNIT}|%|/s)\b|%)?|–)(?![\w.]*\w)", "#"))
"""Every number that stands by itself."""
MEASURED = re.compile(r"(?:^|\.)(?:pid|host|usage\..*|samples|exec_time_s|(?:task_.*_)?(?:process|cpu)_time.*)$")


@dataclass(frozen=True)
class Scenario:
    """Steps in a folder of their own, and the files that are there before the first."""

    steps: str
    files: dict[str, str] = field(default_factory=dict)
    hidden: Iterable[tuple[str, str]] = TIMES
    """What differs from time to time: patterns, and what is written in their place."""
    exact: bool = False
    """Nothing is measured: only paths are written anew."""


def play(place: Workplace, scenario: Scenario) -> str:
    """Run the steps; return the transcript."""
    for name, text in scenario.files.items():
        place.write(name, text)
    said = [_step(place, scenario, line.strip()) for line in scenario.steps.strip().splitlines()]
    return "\n".join(said)


def _step(place: Workplace, scenario: Scenario, line: str) -> str:
    words = shlex.split(line)
    variables = {}
    while "=" in words[0]:
        name, _, variables[name] = words.pop(0).partition("=")
    verb, *words = words
    if verb == "assay":
        answer = place.assay(*words, **{"COLUMNS": "100", "TZ": "UTC", **variables})
        errors = "".join(f"! {each}\n" for each in answer.err.splitlines())
        text = f"{tidy(answer.out + errors, place, scenario)}[exit {answer.code}]\n"
    else:
        text = tidy("".join(f"{each}\n" for each in LOOKS[verb](_only(place.folder, words[0]))), place, scenario)
    return f"$ {re.sub(*ADDRESS, line)}\n{text}"


def tidy(text: str, place: Workplace, scenario: Scenario) -> str:
    for long, short in ((str(place.folder), "HERE"), (sys.executable, "PYTHON"), (str(ROOT), "REPO")):
        text = text.replace(long, short)
    text = BESIDE.sub("", text)
    if scenario.exact:
        return text
    for pattern, put in (*ALWAYS, *scenario.hidden):
        text = re.sub(pattern, put, text)
    lines = [re.sub(r"(?<=\S) +", " ", line).strip(" ") for line in text.splitlines()]
    return "".join(f"{re.sub(r'-{3,}', '---', line)}\n" for line in lines)


def _only(folder: Path, name: str) -> Path:
    [found] = folder.glob(name) if "*" in name else [folder / name]
    return found


def _ls(folder: Path) -> Iterator[str]:
    for path in sorted(folder.rglob("*")):
        yield f"{path.relative_to(folder)}{'/' if path.is_dir() else ''}"


def _top(folder: Path) -> list[str]:
    return sorted(f"{path.name}{'/' if path.is_dir() else ''}" for path in folder.iterdir())


def _cat(file: Path) -> Iterator[str]:
    yield from file.read_text(encoding="utf-8").splitlines()


def _head(file: Path) -> list[str]:
    return file.read_text(encoding="utf-8").splitlines()[:4]


def _documents(file: Path) -> list[Any]:
    text = file.read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()] if file.suffix == ".jsonl" else [json.loads(text)]


def _keys(file: Path) -> Iterator[str]:
    """The packages of a machine are its own affair."""
    found = {path for document in _documents(file) for path, _ in _leaves(document, "", "[]")}
    yield from sorted({re.sub(r"^packages\..*", "packages", path) for path in found})


def _values(file: Path) -> Iterator[str]:
    for number, document in enumerate(_documents(file)):
        if number:
            yield ""
        for path, value in _leaves(document, ""):
            if MEASURED.search(path):
                value = "…"
            yield f"{path}: {json.dumps(value, ensure_ascii=False)}"


def _leaves(value: Any, path: str, place: str = "[{}]") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _leaves(inner, f"{path}.{key}" if path else key, place)
    elif isinstance(value, list) and value:
        for at, inner in enumerate(value):
            yield from _leaves(inner, path + place.format(at), place)
    else:
        yield path, value


def _digest(file: Path) -> list[str]:
    return [sha256(file.read_bytes()).hexdigest()]


class _Headings(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._inside = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("title", "h1", "h2", "h3"):
            self._inside = tag
            self.found.append(f"{tag}: ")

    def handle_endtag(self, tag: str) -> None:
        if tag == self._inside:
            self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.found[-1] += data


def headings(page: str) -> list[str]:
    parser = _Headings()
    parser.feed(page)
    return [" ".join(each.split()) for each in parser.found]


def _page(file: Path) -> list[str]:
    return headings(file.read_text(encoding="utf-8"))


LOOKS = {
    "ls": _ls,
    "top": _top,
    "cat": _cat,
    "head": _head,
    "keys": _keys,
    "values": _values,
    "page": _page,
    "digest": _digest,
}
