"""Code blocks of README and docs, run as a reader would: in order, in one folder a page, unless one says why not."""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from doc_block import PAGES, Block, blocks
from tests.seeds.migration_page import PAGES as MIGRATION_PAGES

Prepare = Callable[[Path], None]
ELSEWHERE = "docs/migrate/"
"""Pages whose blocks tests/seeds/test_migration_pages.py runs."""
RUN = ("sh", "console", "python")
SLOW = {"docs/tutorial.md", "README.md"}


def to_run(page: str) -> list[Block]:
    """Those that are run, and those that only put a file there."""
    return [block for block in blocks(page) if "file" in block.said or (block.language in RUN and block.runs)]


def pages() -> list[Any]:
    wanted = [page for page in PAGES if not page.startswith(ELSEWHERE) and to_run(page)]
    return [pytest.param(page, marks=pytest.mark.slow if page in SLOW else ()) for page in wanted]


@pytest.mark.parametrize("page", pages())
def test_the_blocks_of_a_page_work_one_after_the_other(
    page: str, tmp_path: Path, prepared: dict[str, Prepare], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "argv", ["a_program.py"])
    names: dict[str, Any] = {"__name__": "a_page"}
    for block in to_run(page):
        if wanted := block.said.get("with"):
            prepared[wanted](tmp_path)
        if name := block.said.get("file"):
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, encoding="utf-8")
            path.chmod(0o755)
        elif block.language == "python":
            _run_python(block, names)
        else:
            _run_shell(block, tmp_path)


def _run_python(block: Block, names: dict[str, Any]) -> None:
    if ">>> " in block.text:
        test = doctest.DocTestParser().get_doctest(block.text, names, block.place, block.page, block.line)
        told = io.StringIO()
        failed = doctest.DocTestRunner(verbose=False).run(test, out=told.write, clear_globs=False).failed
        assert not failed, told.getvalue()
        names.update(test.globs)
        return
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile("\n" * (block.line - 1) + block.text, block.page, "exec"), names)  # noqa: S102  our own pages


def _run_shell(block: Block, folder: Path) -> None:
    script = "set -eo pipefail\n" + "\n".join(block.commands() if block.language == "console" else [block.text])
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "COLUMNS": "120",
        "RAY_USAGE_STATS_ENABLED": "0",
    }
    done = subprocess.run(
        ["bash", "-c", script], cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=240
    )
    said = f"{block.place}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    assert done.returncode in block.exits, f"exit code {done.returncode}: {said}"
    assert "Traceback (most recent call last)" not in done.stderr, said


def test_the_pages_left_out_are_run_by_another_test() -> None:
    here = {Path(page).stem for page in PAGES if page.startswith(ELSEWHERE)}
    assert here - {"index"} == {Path(name).stem for name in MIGRATION_PAGES}


def test_most_of_what_can_be_run_is_run() -> None:
    runnable = [block for page in PAGES for block in blocks(page) if block.language in RUN]
    run = [block for block in runnable if block.runs or block.page.startswith(ELSEWHERE)]
    assert len(run) / len(runnable) > 0.6
