from __future__ import annotations

from collections.abc import Iterable, Sequence

from assay.report.printable import printable


def table(columns: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[int] = ()) -> str:
    ruler = ["---:" if i in right else "---" for i in range(len(columns))]
    return "\n".join(f"| {' | '.join(row)} |" for row in (columns, ruler, *rows))


def escape(text: str) -> str:
    """The text for any place of a table: no markup, no HTML, no second cell."""
    shown = printable(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return "".join(f"\\{char}" if char in "\\`*_[]|#~!" else char for char in shown)
