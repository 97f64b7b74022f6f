"""A page of docs/migrate: the files it shows and the commands it gives, for a test to write and run."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

import yaml

FOLDER = Path(__file__).parents[2] / "docs" / "migrate"
PAGES = sorted(path.name for path in FOLDER.glob("*.md") if path.name != "index.md")
_BLOCK = re.compile(r"^(?P<before>[^\n]*)\n\n```(?P<kind>\w+)\n(?P<text>.*?)(?=^```$)", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"`([\w./-]+\.(?:yaml|yml|json|py))`")


@dataclass(frozen=True)
class MigrationPage:
    name: str

    @property
    def text(self) -> str:
        return (FOLDER / self.name).read_text()

    def files(self) -> dict[str, str]:
        """Path → text: a block's path stands in the line before it."""
        shown = {}
        for block in _BLOCK.finditer(self.text):
            if block["kind"] != "sh":
                named = _FILE.search(block["before"])
                assert named is not None, f"{self.name}: a block without a file: {block['text'][:60]}"
                shown[named[1]] = block["text"]
        return shown

    def commands(self) -> list[list[str]]:
        """Commands in order, those of workflows last."""
        blocks = "".join(block["text"] for block in _BLOCK.finditer(self.text) if block["kind"] == "sh")
        lines = [line.partition(" #")[0] for line in blocks.splitlines()]
        for name, text in self.files().items():
            if name.startswith(".github/"):
                jobs = yaml.safe_load(text)["jobs"].values()
                lines += [step["run"] for job in jobs for step in job["steps"] if "assay " in step.get("run", "")]
        return [shlex.split(line) for line in lines]

    def mentioned(self) -> set[str]:
        """Commands of Assay's that stand in its sentences and tables."""
        return set(re.findall(r"`assay ([a-z]+)", _BLOCK.sub("", self.text)))

    def links(self) -> list[str]:
        return re.findall(r"\]\(([^)#]+\.md)", self.text)
