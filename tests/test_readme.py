"""The README: what it links to is there. Its commands are run by tests/docs/test_blocks_run.py."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_every_page_the_readme_links_to_is_there() -> None:
    linked = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", (ROOT / "README.md").read_text())
    assert len(linked) > 30
    assert [page for page in linked if not (ROOT / page).is_file()] == []
