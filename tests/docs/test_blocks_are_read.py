"""Every code block of README and docs, run or not: it is in a language that is known, and says what exists."""

from __future__ import annotations

import ast
import contextlib
import json
import os
import shlex
import tomllib
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import yaml
from doc_block import PAGES, Block, blocks, indented
from doc_yaml import check_yaml

from assay.cli.command_table import take_results_dir
from assay.cli.main import _find_command, _parser, _split

LANGUAGES = {"sh", "console", "python", "yaml", "toml", "json", "text", "mermaid", "xml"}
ALL = [pytest.param(block, id=block.place) for page in PAGES for block in blocks(page)]


def of(*languages: str) -> list[Any]:
    return [param for param in ALL if param.values[0].language in languages]


@pytest.mark.parametrize("page", PAGES)
def test_a_page_has_no_block_without_a_language(page: str) -> None:
    assert indented(page) == [], "put it between ```sh, ```python, ```yaml or ```text and ```"
    assert [block.place for block in blocks(page) if block.language not in LANGUAGES] == []


@pytest.mark.parametrize("page", PAGES)
def test_a_block_that_is_not_run_says_why_in_words(page: str) -> None:
    reasons = {block.place: block.said["not run"] for block in blocks(page) if not block.runs}
    assert [place for place, reason in reasons.items() if len(reason.split()) < 2] == []


@pytest.mark.parametrize("block", of("python"))
def test_python_parses_and_imports_names_that_exist(block: Block) -> None:
    text = "\n".join(line[4:] for line in block.text.splitlines() if line[:4] in (">>> ", "... "))
    tree = ast.parse(text or block.text, block.place)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "assay":
            module = import_module(node.module or "")
            assert [name.name for name in node.names if not hasattr(module, name.name)] == []


@pytest.mark.parametrize("block", of("yaml"))
def test_yaml_is_accepted_by_whoever_reads_it(block: Block, tmp_path: Path) -> None:
    check_yaml(block, tmp_path)


@pytest.mark.parametrize("block", of("toml", "json"))
def test_other_formats_parse(block: Block) -> None:
    tomllib.loads(block.text) if block.language == "toml" else json.loads(block.text)


@pytest.mark.parametrize("block", of("sh", "console"))
def test_commands_of_assay_have_words_that_exist(block: Block, capsys: pytest.CaptureFixture[str]) -> None:
    """Parsed by the command's own parser, as if they had been typed."""
    for command in block.commands():
        for words in _of_assay(command):
            before, _ = _split(words)
            left, _ = take_results_dir(before)
            with contextlib.suppress(SystemExit):
                _parser(_find_command(left)).parse_args(left)
            assert "error:" not in (said := capsys.readouterr().err), f"{command}\n{said}"


def _of_assay(command: str) -> list[list[str]]:
    """Words behind `assay`, of each part of a line such as `assay run … && assay compare …`."""
    lexed = shlex.shlex(command, posix=True, punctuation_chars=True)
    lexed.whitespace_split = True
    parts: list[list[str]] = [[]]
    for word in lexed:
        if word in ("&&", "||", "|", ";", ">", ">>", "&"):
            parts.append([])
        else:
            parts[-1].append(word)
    named = [part for part in parts if part and os.path.basename(part[0]) == "assay"]
    return [part[1:] for part in named if part[1:2] != ["--version"] and part[1:2] != ["--help"]]


def test_blocks_are_really_found() -> None:
    assert len(ALL) > 100
    assert yaml.safe_load(next(block.text for block in blocks("docs/sessions.md") if block.language == "yaml"))
