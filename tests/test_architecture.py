from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from tools import draw_rooms  # noqa: E402


def test_the_drawing_is_made_from_the_code_and_no_arrow_is_outside_the_table() -> None:
    page = draw_rooms.PAGE.read_text(encoding="utf-8")
    assert draw_rooms.violations(draw_rooms.allowed(page), draw_rooms.imported()) == []
    assert draw_rooms.redrawn(page) == page, "run: python -m tools.draw_rooms"


def test_every_folder_is_in_the_table() -> None:
    may = draw_rooms.allowed(draw_rooms.PAGE.read_text(encoding="utf-8"))
    folders = {path.name for path in (ROOT / "src/assay").iterdir() if (path / "__init__.py").is_file()}
    assert folders == set(may)
