"""Draws which folder imports which, from the code, into docs/architecture.md; `--check` says whether it is up to date.

The table in that page says what a folder may import. A solid arrow is an import that is there, a dotted one an
import that the table allows and nothing uses yet.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import grimp

PAGE = Path(__file__).parent.parent / "docs" / "architecture.md"
BEGIN, END = "<!-- drawn by tools/draw_rooms.py -->", "<!-- end of the drawing -->"
ALWAYS = {"errors", "exports", "fallback", "names", "untrusted"}
COMPOSING = ("api", "cli")
EVERY_OTHER = "every other room"
"""Words of the table that stand for all rooms, less those named after them."""


def allowed(page: str) -> dict[str, set[str]]:
    """`| `room/` | owns | may import |` rows of the page's table."""
    rows = re.findall(r"^\| `(\w+)/` \|[^|]*\|([^|]*)\|$", page, re.MULTILINE)
    rooms = [room for room, _ in rows]
    may = {}
    for room, words in rows:
        named = set(re.findall(r"\w+", words)) & set(rooms)
        may[room] = set(rooms) - {room} - named if EVERY_OTHER in words else named
    return may


def imported() -> dict[str, set[str]]:
    graph = grimp.build_graph("assay", include_external_packages=False)
    arrows: dict[str, set[str]] = {}
    for module in graph.modules:
        parts = module.split(".")
        if len(parts) < 2:
            continue
        found = {name.split(".")[1] for name in graph.find_modules_directly_imported_by(module) if "." in name}
        arrows.setdefault(parts[1], set()).update(found - {parts[1]} - ALWAYS)
    return arrows


def drawing(may: dict[str, set[str]], there: dict[str, set[str]]) -> str:
    lines = ["```mermaid", "flowchart LR"]
    for room in may:
        if room in COMPOSING:
            lines.append(f"    {room} ==> everything([every room])")
            continue
        lines += [f"    {room} --> {other}" for other in sorted(there.get(room, set()) & set(may))]
        lines += [f"    {room} -.-> {other}" for other in sorted(may[room] - there.get(room, set()))]
    lines += ["    cli --> api", "```"]
    return "\n".join(lines)


def violations(may: dict[str, set[str]], there: dict[str, set[str]]) -> list[str]:
    rooms = set(may)
    return [f"{room} imports {other}" for room in may for other in sorted((there.get(room, set()) & rooms) - may[room])]


def redrawn(page: str) -> str:
    before, _, rest = page.partition(BEGIN)
    after = rest.partition(END)[2]
    return f"{before}{BEGIN}\n{drawing(allowed(page), imported())}\n{END}{after}"


def main() -> int:
    page = PAGE.read_text(encoding="utf-8")
    wrong = violations(allowed(page), imported())
    print("\n".join(wrong), file=sys.stderr, end="\n" if wrong else "")
    if "--check" in sys.argv:
        stale = redrawn(page) != page
        if stale:
            print("docs/architecture.md: the drawing is out of date: python -m tools.draw_rooms", file=sys.stderr)
        return 1 if stale or wrong else 0
    PAGE.write_text(redrawn(page), encoding="utf-8")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
