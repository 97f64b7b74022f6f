"""The table of promises in docs/migrate/index.md names tests that exist, and every test of a document's samples."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
NAMED = sorted(set(re.findall(r"`(tests/[\w/]+\.py::\w+)`", (ROOT / "docs/migrate/index.md").read_text())))


def test_every_named_test_is_collected() -> None:
    words = ["-m", "pytest", "--collect-only", "-p", "no:cacheprovider", *NAMED]
    done = subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    collected = {line.partition("[")[0] for line in done.stdout.splitlines() if "::" in line}
    assert sorted(collected) == NAMED


def test_every_row_names_a_test() -> None:
    rows = [line for line in (ROOT / "docs/migrate/index.md").read_text().splitlines() if line.startswith("| ")]
    assert [row for row in rows if "| promise |" not in row and "::" not in row] == []
    assert len(rows) > 40


def test_every_test_of_a_sample_is_named() -> None:
    written = [
        f"{path.relative_to(ROOT)}::{node.name}"
        for path in sorted((ROOT / "tests/seeds").glob("test_seed_*.py"))
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    ]
    assert [name for name in written if name not in NAMED] == []
