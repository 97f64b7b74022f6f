from __future__ import annotations

import re
from pathlib import Path

import pytest
from tools.site.drawings import with_drawings

PAGES = sorted((Path(__file__).parents[2] / "docs").rglob("*.md"))
WALK = """before
```mermaid
sequenceDiagram
    autonumber
    you->>cli: main
    cli->>api: run_new
    api-->>cli: Wide & <odd>
```
after
"""


def test_a_walk_has_a_column_a_room_and_a_numbered_arrow_a_call() -> None:
    page = with_drawings(WALK)
    assert page.startswith("before\n<div")
    assert page.endswith("</div>\nafter\n")
    assert re.findall(r'text-anchor="middle" fill="#222">(\w+)<', page) == ["you", "cli", "api"]
    assert re.findall(r">(\d\. [^<]+)<", page) == ["1. main", "2. run_new", "3. Wide &amp; &lt;odd&gt;"]
    assert page.count("stroke-dasharray") == 1


def test_an_arrow_leads_from_the_callers_column_to_the_callees() -> None:
    ends = [(int(a), int(b)) for a, b in re.findall(r'class="call" d="M(\d+) \d+H(\d+)"', with_drawings(WALK))]
    assert len(ends) == 3
    assert [one < other for one, other in ends] == [True, True, False]
    assert abs(ends[1][0] - ends[0][1]) < 20


@pytest.mark.parametrize("line", ["cli<<->>api: both ways", "Note over cli: odd", "cli->>api"])
def test_a_line_that_is_not_drawn_is_named(line: str) -> None:
    with pytest.raises(ValueError, match=re.escape(line)):
        with_drawings(f"```mermaid\nsequenceDiagram\n    {line}\n```\n")


def test_a_kind_of_drawing_that_nobody_draws_is_named() -> None:
    with pytest.raises(ValueError, match="pie"):
        with_drawings("```mermaid\npie title Pets\n```\n")


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_every_drawing_of_the_docs_is_drawn(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    drawn = with_drawings(text)
    assert "```mermaid" not in drawn
    assert drawn.count("<svg") == text.count("```mermaid") + text.count("<svg")
