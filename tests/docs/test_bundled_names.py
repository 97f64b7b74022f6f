"""What comes with Assay has its place on the page of its room, and files that pages send a contributor to are there."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from assay.benchmarks.weights.profile import BUNDLED
from assay.benchmarks.weights.stores import OWN
from assay.cli.command_table import COMMANDS
from assay.loadgen.colocation.build_components import POLICIES, STAGES
from assay.loadgen.schedulers.scheduler import SCHEDULERS
from assay.sinks.registry import BUILT_IN
from assay.weights.peers.peer import PEERS

ROOT = Path(__file__).parents[2]
PLACES: dict[str, tuple[Iterable[str], str]] = {
    "sinks": (BUILT_IN, "docs/sinks.md"),
    "schedulers": (SCHEDULERS, "docs/loadgen.md"),
    "stages": ([name for name in STAGES if not name.startswith("stages.")], "docs/colocation.md"),
    "policies": (POLICIES, "docs/colocation.md"),
    "stores": ([*OWN, *PEERS], "docs/weight-suites.md"),
    "suites": (BUNDLED, "docs/weight-suites.md"),
}
PATH = re.compile(r"`((?:src|tests|tools|bench|peers|docs|make|requirements|examples)/[\w./-]+|\w+/[\w/]+\.py)`")
MADE = {"tools/coverage_floors.json", "tests/native/fuzz/found/"}
"""Files that a command of the page writes."""


@pytest.mark.parametrize("kind", PLACES)
def test_every_bundled_name_is_on_its_page(kind: str) -> None:
    names, page = PLACES[kind]
    text = (ROOT / page).read_text(encoding="utf-8")
    # In a table, a heading or between backticks: not merely in a sentence that has the word for another reason.
    said = re.findall(r"`([^`\n]+)`|^#+ (.*)$|^\| ([^|]*) \|", text, re.MULTILINE)
    words = {word for piece in said for word in re.findall(r"[\w-]+", " ".join(piece).lower())}
    assert [name for name in names if name not in words] == []


def test_every_command_is_told_of_on_a_page_for_people() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    assert [command.name for command in COMMANDS if f"assay {command.name}" not in text] == []


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "docs/architecture.md", "docs/native.md"])
def test_files_that_a_page_names_are_there(page: str) -> None:
    named = set(PATH.findall((ROOT / page).read_text(encoding="utf-8"))) - MADE
    assert named
    assert [path for path in sorted(named) if not any((ROOT / top / path).exists() for top in _tops())] == []


def _tops() -> Iterable[str]:
    return (".", "src/assay")
