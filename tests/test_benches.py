"""Where a benchmark of the project is: `make bench-NAME` runs bench/NAME, `make peers-NAME` runs peers/NAME."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
RECIPE = re.compile(r"^((?:bench|peers)-[a-z-]+):[^\n]*\n((?:\t[^\n]*\n?)+)", re.MULTILINE)


def makefiles() -> list[str]:
    return [file.read_text(encoding="utf-8") for file in (ROOT / "Makefile", *sorted((ROOT / "make").glob("*.mk")))]


def recipes() -> dict[str, str]:
    return dict(found for text in makefiles() for found in RECIPE.findall(text))


def test_every_bench_and_every_comparison_runs_what_its_name_says() -> None:
    wrong = {}
    for target, recipe in recipes().items():
        folder, _, name = target.partition("-")
        module = f"bench.{name}" if folder == "bench" else f"peers.{name}.compare"
        started = re.findall(r"-m ([\w.]+)", recipe)
        # What the package itself offers to its users stays in the package.
        if not any(one == module or one.split(".")[0] == "assay" for one in started):
            wrong[target] = started
    assert wrong == {}


def test_every_file_of_bench_is_run_by_make_or_used_by_one_that_is() -> None:
    started = {word for recipe in recipes().values() for word in re.findall(r"-m bench\.(\w+)", recipe)}
    text = "".join(path.read_text(encoding="utf-8") for top in ("bench", "peers") for path in (ROOT / top).rglob("*.*")
                   if path.suffix in (".py", ".yaml"))  # fmt: skip
    names = {path.stem for path in (ROOT / "bench").iterdir() if path.is_dir() or path.suffix == ".py"}
    idle = [name for name in names - started - {"__init__", "__pycache__"}
            if f"bench.{name}" not in text and f"{name}.py" not in text]  # fmt: skip
    assert idle == []


def test_no_bench_hides_among_tests_or_tools() -> None:
    hidden = [str(path.relative_to(ROOT)) for top in ("tests", "tools") for path in (ROOT / top).rglob("*.py")
              if re.match(r"(bench|peers?)_|.*_bench\.py", path.name)]  # fmt: skip
    assert hidden == []


def test_help_lists_every_described_target_once_under_a_section() -> None:
    described = [name for text in makefiles() for name in re.findall(r"^([a-z][a-z0-9-]*):.*## ", text, re.MULTILINE)]
    said = subprocess.run(["make", "-s", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert Counter(re.findall(r"^  ([a-z][a-z0-9-]*) +\S", said, re.MULTILINE)) == Counter(described)
    sections = said.split("\n\n")
    assert [section.splitlines()[0] for section in sections] == [
        "Start here", "Work on it", "Measure Assay", "Beside other programs", "Attack it",
    ]  # fmt: skip
    assert all("\n  " in section for section in sections)
