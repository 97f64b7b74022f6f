"""What CONTRIBUTING says of adding a sink and a command, carried out in a copy: the files that it names are enough."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from workplace import Workplace

ROOT = Path(__file__).parents[2]
SINK = """\
from assay.sinks.sink import Key
from assay.sinks.sink import Sink


class LinesSink(Sink):
    summary = "one line for each run"
    keys = (Key("path", "the file", required=True),)

    def process_result(self, result):
        with (self.context.folder / self.config["path"]).open("a") as file:
            file.write(result["name"] + "\\n")
"""
COMMAND = """\
from pathlib import Path


def arguments(parser):
    parser.add_argument("folder", type=Path, help="a results folder")


def run(args):
    print(len(list(args.folder.glob("*/session.json"))))
    return 0
"""


class Copy:
    """Assay's source in a folder of its own, and what is told of it in one section of CONTRIBUTING."""

    def __init__(self, place: Workplace, heading: str) -> None:
        self.source = place.folder / "src"
        left_out = shutil.ignore_patterns("__pycache__", "*.c", "*.h")
        shutil.copytree(ROOT / "src" / "assay", self.source / "assay", ignore=left_out)
        place.environment |= {"PYTHONPATH": str(self.source), "PYTHONDONTWRITEBYTECODE": ""}
        text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
        self._section = text.partition(f"### {heading}\n")[2].partition("\n### ")[0]

    def add(self, path: str, text: str, **words: str) -> None:
        """A new file at a path as the section writes it, `<name>` and its like filled in."""
        self._path(path, words).write_text(text, encoding="utf-8")

    def line(self, path: str, before: str, line: str) -> None:
        file = self._path(path, {})
        text = file.read_text(encoding="utf-8")
        assert before in text
        file.write_text(text.replace(before, f"{line}\n{before}"), encoding="utf-8")

    def _path(self, path: str, words: dict[str, str]) -> Path:
        assert f"`{path}`" in self._section, "CONTRIBUTING does not name it"
        filled = re.sub(r"<(\w+)>", lambda found: words[found.group(1)], path)
        return self.source / filled.removeprefix("src/")


@pytest.mark.slow
def test_a_sink(workplace: Workplace) -> None:
    copy = Copy(workplace, "a sink")
    copy.add("src/assay/sinks/<name>_sink.py", SINK, name="lines")
    line = '        "lines": "assay.sinks.lines_sink:LinesSink",'
    copy.line("src/assay/sinks/registry.py", '        "mlflow": ', line)
    workplace.write("assay.yaml", "sinks: [{name: lines, path: told}]\nentries: [{name: hello, command: 'true'}]\n")
    listed = workplace.assay("sinks", "list")
    assert "one line for each run" in listed.out
    done = workplace.assay("run", "--config", "assay.yaml")
    assert done.code == 0, done.out + done.err
    assert [file.read_text() for file in workplace.folder.glob("results/*/told")] == ["hello\n"]
    workplace.write("wrong.yaml", "sinks: [{name: lines, paht: told}]\nentries: [{name: hello, command: 'true'}]\n")
    refused = workplace.assay("plan", "--config", "wrong.yaml")
    assert "did you mean 'path'" in refused.out + refused.err


@pytest.mark.slow
def test_a_command(workplace: Workplace) -> None:
    copy = Copy(workplace, "a command")
    copy.add("src/assay/cli/<name>.py", COMMAND, name="count")
    line = '    Command("count", "how many sessions there are"),'
    copy.line("src/assay/cli/command_table.py", '    Command("weights"', line)
    workplace.write("results/one/session.json", "{}")
    assert "how many sessions there are" in workplace.assay("--help").out
    assert workplace.assay("count", "results").out == "1\n"
    assert workplace.assay("count").code == 2
