"""Code blocks of the documentation, and what a comment above one says of it.

<!-- not run: needs a GPU -->        it is read and checked, not executed
<!-- file: assay.yaml -->            it is put into the page's folder under that name
<!-- exit: 3 -->                     what a shell block ends with, where that is not 0; several: 0 3
<!-- with: measured -->              what is in the page's folder before this block (tests/docs/fixtures.py)
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
PAGES = (
    "README.md",
    "CONTRIBUTING.md",
    *sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md")),
)
_COMMENT = re.compile(r"<!-- (?P<key>not run|file|exit|with): (?P<value>.+?) -->")
_FENCE = re.compile(r"^(?P<space> *)```(?P<language>\w*)")


@dataclass(frozen=True)
class Block:
    page: str
    line: int
    language: str
    text: str
    said: dict[str, str] = field(default_factory=dict)

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def runs(self) -> bool:
        return "not run" not in self.said

    @property
    def exits(self) -> set[int]:
        return {int(code) for code in self.said.get("exit", "0").split()}

    def commands(self) -> list[str]:
        """Whole commands of a shell block, without comments, continued lines as one."""
        joined = re.sub(r"\\\n\s*", "", self.text)
        shown = [re.sub(r"^\$ ", "", line) for line in joined.splitlines()]
        return [line for line in (re.sub(r"(^|\s)#.*$", "", line).strip() for line in shown) if line]


@cache
def blocks(page: str) -> tuple[Block, ...]:
    found: list[Block] = []
    said: dict[str, str] = {}
    lines = (ROOT / page).read_text(encoding="utf-8").split("\n")
    at = 0
    while at < len(lines):
        if fence := _FENCE.match(lines[at]):
            end = next(n for n in range(at + 1, len(lines)) if lines[n].strip() == "```")
            text = "\n".join(line[len(fence["space"]) :] for line in lines[at + 1 : end]) + "\n"
            found.append(Block(page, at + 2, fence["language"], text, said))
            said, at = {}, end
        elif comment := _COMMENT.fullmatch(lines[at].strip()):
            said = {**said, comment["key"]: comment["value"]}
        elif lines[at].strip():
            said = {}
        at += 1
    return tuple(found)


def indented(page: str) -> list[int]:
    """Lines where a block is only indented: nothing says what language it is in."""
    text = re.sub(
        r"^( *)```.*?^\1```", lambda fenced: "\n" * fenced[0].count("\n"), (ROOT / page).read_text(), flags=re.M | re.S
    )
    lines = text.split("\n")
    return [
        n + 1
        for n in range(1, len(lines))
        if lines[n].startswith("    ") and not lines[n - 1].strip() and not _in_list(lines, n)
    ]


def _in_list(lines: list[str], at: int) -> bool:
    above = next((line for line in reversed(lines[:at]) if line.strip() and not line.startswith("  ")), "")
    return bool(re.match(r"([-*:]|\d+\.) ", above))
