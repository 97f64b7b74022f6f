from __future__ import annotations

from pathlib import Path

import pytest
from tools.site.drawings import with_drawings

PAGES = sorted((Path(__file__).parents[2] / "docs").rglob("*.md"))


def test_a_kind_of_drawing_that_nobody_draws_is_named() -> None:
    with pytest.raises(ValueError, match="pie"):
        with_drawings("```mermaid\npie title Pets\n```\n")


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_every_drawing_of_the_docs_is_drawn(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    drawn = with_drawings(text)
    assert "```mermaid" not in drawn
    assert drawn.count("<svg") == text.count("```mermaid") + text.count("<svg")
