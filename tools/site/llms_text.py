"""llms.txt: the pages of the site with a sentence each, for programs that read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HEAD = """# Assay

> One benchmarking system for machine-learning pipelines: it runs sessions of benchmarks from YAML, keeps every result,
> says with statistics what changed, and shows it to a person.

Every page is Markdown at the address below; `assay schema` prints the session YAML as JSON Schema.
"""


def llms_text(nav: Any, source: Path) -> str:
    return "\n".join([HEAD, *_section(nav, source, 2)]) + "\n"


def _section(nav: Any, source: Path, depth: int) -> Iterator[str]:
    for item in nav:
        title, inside = next(iter(item.items())) if isinstance(item, dict) else ("", item)
        if isinstance(inside, str):
            page = (source / inside).read_text(encoding="utf-8") if (source / inside).exists() else ""
            yield f"- [{title or _title(page)}]({inside}): {_first_sentence(page)}"
        else:
            yield f"\n{'#' * depth} {title}\n"
            yield from _section(inside, source, depth + 1)


def _title(page: str) -> str:
    found = re.search(r"^# (.+)$", page, re.MULTILINE)
    return found[1] if found else "?"


def _first_sentence(page: str) -> str:
    """The first sentence of the first paragraph that is prose."""
    for paragraph in re.split(r"\n\s*\n", re.sub(r"```.*?```|<!--.*?-->", "", page, flags=re.DOTALL)):
        text = " ".join(paragraph.split())
        if text and not text.startswith(("#", "|", "!", "<", "-", "    ")) and not paragraph.startswith("    "):
            plain = re.sub(r"\[([^]]+)\]\([^)]*\)", r"\1", text)
            return re.split(r"(?<=[.:])\s", plain, maxsplit=1)[0].rstrip(":")
    return ""
