"""The README's commands, run as a reader would, in order, in one folder."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from workplace import Workplace

ROOT = Path(__file__).parent.parent
BLOCKS = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)


def commands() -> list[str]:
    lines = "".join(BLOCKS.findall((ROOT / "README.md").read_text())).splitlines()
    return [line.partition("#")[0].strip() for line in lines if line.startswith("assay ")]


@pytest.mark.slow
def test_the_commands_of_the_readme_work(workplace: Workplace) -> None:
    asked = commands()
    assert len(asked) >= 8
    for command in asked:
        answer = workplace.assay(*shlex.split(command)[1:])
        # Two runs of the same benchmark on a noisy machine may truly differ; that is an answer, not a failure.
        allowed = (0, 3) if command.startswith("assay compare") else (0,)
        assert answer.code in allowed, f"{command}: {answer.out}{answer.err}"


def test_every_page_the_readme_links_to_is_there() -> None:
    linked = re.findall(r"\]\((docs/[^)]+)\)", (ROOT / "README.md").read_text())
    assert [page for page in linked if not (ROOT / page).is_file()] == []
