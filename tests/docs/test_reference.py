"""The reference has every key, flag, metric, variable and message, and what it says of them is what happens."""

from __future__ import annotations

import argparse
import ast
import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from tools.site.reference.commands_page import commands_page, parsers
from tools.site.reference.messages_page import messages, messages_page
from tools.site.reference.metric_inventory import metric_rows
from tools.site.reference.metrics_page import USAGE, definitions, formulas, meaning, metrics_page
from tools.site.reference.model_keys import keys, models
from tools.site.reference.python_page import PACKAGES, public_names, python_page
from tools.site.reference.sources import trees
from tools.site.reference.variables_page import READ, SET, named_in_code, variables_page
from tools.site.reference.yaml_page import colocation_page, profile_page, yaml_page
from workplace import Workplace

from assay.benchmarks.weights.profile import Profile
from assay.cli.command_table import COMMANDS
from assay.config.session_config import SessionConfig, session_schema
from assay.loadgen.colocation.colocation_config import ColocationConfig
from assay.record import Usage
from assay.sinks.registry import BUILT_IN

TABLES = [(SessionConfig, yaml_page), (ColocationConfig, colocation_page), (Profile, profile_page)]


@pytest.mark.parametrize(("top", "page"), TABLES)
def test_every_key_of_a_file_is_there_with_type_and_meaning(top: type[BaseModel], page: Any) -> None:
    text = page()
    for model in models(top):
        for key in keys(model):
            assert f"| `{key.name}` | {key.type} |" in text, f"{model.__name__}.{key.name}"
            assert key.description, f"{model.__name__}.{key.name} has no word; say what it is where it is declared"


def test_every_key_of_the_schema_is_on_the_page_and_has_an_example() -> None:
    schema, text = session_schema(), yaml_page()
    named = [key for one in (schema, *schema["$defs"].values()) for key in one.get("properties", {})]
    assert [key for key in named if f"`{key}`" not in text] == []
    rows = [line for line in text.splitlines() if re.match(r"\| `\w+` \|.*\|.*\|.*\|.*\|$", line)]
    assert len(rows) > 100
    assert [line for line in rows if line.rstrip(" |").endswith(".")] == [], "a row without an example"


def test_every_key_of_a_sink_is_on_the_page() -> None:
    text = yaml_page()
    for name in BUILT_IN:
        part = text.partition(f"### {name}\n")[2].partition("### ")[0]
        assert [key.name for key in BUILT_IN.find(name).keys if f"`{key.name}`" not in part] == []


def test_every_command_and_flag_is_there() -> None:
    text = commands_page()
    assert [command.name for command in COMMANDS if f"## assay {command.name}\n" not in text] == []
    for name, parser in parsers():
        part = text.partition(f"# assay {name}\n")[2].partition("\n## ")[0]
        for action in parser._actions:
            if not isinstance(action, argparse._HelpAction) and action.help != argparse.SUPPRESS:
                assert [flag for flag in action.option_strings if f"`{flag}`" not in part] == [], f"assay {name}"


def test_every_flag_says_what_it_does() -> None:
    silent = [
        f"assay {name} {'/'.join(action.option_strings) or action.dest}"
        for name, parser in parsers()
        for action in parser._actions
        if not action.help and not isinstance(action, argparse._SubParsersAction)
    ]
    assert silent == []


def test_every_public_name_of_python_is_there() -> None:
    text = python_page()
    wanted = [f"### {package}.{name} " for package in PACKAGES for name in public_names(package)]
    assert len(wanted) > 80
    assert [name for name in wanted if name not in text] == []


def test_every_metric_has_a_meaning_and_every_meaning_a_metric() -> None:
    text = metrics_page()
    where = "tools/site/reference/metric_definitions.yaml"
    assert [f"{row.group}: {row.name}" for row in metric_rows() if not meaning(row)] == [], f"say what it is in {where}"
    known = {(row.group, row.name) for row in metric_rows()}
    said = {(group, name) for group, names in definitions().items() for name in names}
    assert said - known == set(), f"no code gives these any more: {where}"
    assert [row.name for row in metric_rows() if f"`{row.name}`" not in text] == []
    assert [name for name in formulas() if f"`{name}`" not in text] == []
    assert {field.name for field in fields(Usage)} - {"cpu_s", "peak_rss_mb"} == set(USAGE)


def test_what_programs_really_give_is_in_the_reference(workplace: Workplace) -> None:
    """Unit and direction too."""
    workplace.assay("data", "documents", "made", "--documents", "60")
    workplace.write(
        "assay.yaml",
        """\
entries:
  - {name: smoke, script: test_benchmark.py, args: --iterations 2}
  - name: removal
    script: removal_benchmark.py
    args: --input-path made/documents --ids-to-remove-path made/duplicates.jsonl --output-path {scratch_dir}/kept
""",
    )
    answer = workplace.assay("run", "--config", "assay.yaml")
    assert answer.code == 0, answer.out + answer.err
    shapes = [(row, re.compile(re.sub(r"\\?<[^>]*\\?>", ".+", re.escape(row.name)))) for row in metric_rows()]
    found = 0
    for record in workplace.records().values():
        for name, metric in record.metrics.items():
            if not name.startswith("task_"):
                fitting = [row for row, shape in shapes if shape.fullmatch(name)]
                assert fitting, name
                assert any((metric.unit or "", metric.better or "") == (row.unit, row.better) for row in fitting), name
                found += 1
    assert found > 15


def test_every_variable_that_the_code_names_is_there() -> None:
    text = variables_page()
    assert named_in_code() - READ.keys() - SET.keys() == set(), "say what it does in variables_page.py"
    assert [name for name in (*READ, *SET) if f"`{name}`" not in text] == []


@pytest.mark.parametrize(
    "words",
    [
        ("run",),
        ("run", "--config", "missing.yaml"),
        ("run", "--config", "broken.yaml"),
        ("plan", "--config", "twice.yaml"),
        ("show", "nothing"),
        ("compare", "a", "b"),
        ("weights", "log", "nowhere"),
        ("colocate", "missing.yml"),
        ("init", "--ci", "jenkins"),
        ("report", "--output", "x.docx"),
        ("prune",),
    ],
)
def test_a_message_that_is_printed_is_in_the_reference(workplace: Workplace, words: tuple[str, ...]) -> None:
    workplace.write("broken.yaml", "entries:\n  - {name: x, command: 'true', repeet: 2}\n")
    workplace.write("twice.yaml", "entries:\n  - {name: x, command: 'true'}\n  - {name: x, command: 'true'}\n")
    answer = workplace.assay(*words)
    assert answer.code == 2
    said = answer.err.partition("assay: ")[2].strip() or answer.err.strip()
    known = [message.text for message in messages() if message.pattern.search(said)]
    assert known or "usage:" in answer.err, said


def test_messages_are_all_on_their_page() -> None:
    text = messages_page()
    assert len(messages()) > 500
    assert text.count("\n| ") >= len(set(messages()))


def test_the_files_of_a_session_are_described(workplace: Workplace) -> None:
    workplace.write("assay.yaml", "sinks: [{name: csv}]\nentries:\n  - {name: smoke, script: test_benchmark.py}\n")
    answer = workplace.assay("run", "--config", "assay.yaml")
    assert answer.code == 0, answer.out + answer.err
    page = (Path(__file__).parents[2] / "docs" / "files.md").read_text(encoding="utf-8")
    results = workplace.folder / "results"
    found = {path.relative_to(results) for path in results.rglob("*") if path.is_file()}
    words = set(re.findall(r"`([^`]+)`", page))
    left_out = [
        str(path)
        for path in found
        if not any(path.as_posix().endswith(word.strip("/")) for word in words)
        and not any(word.endswith("/") and f"/{word}" in f"/{path.as_posix()}" for word in words)
    ]
    assert left_out == []


def test_the_messages_of_the_troubleshooting_page_are_said_by_the_code() -> None:
    root = Path(__file__).parents[2]
    said = "\n".join(
        [
            *(_text(node) for tree in trees().values() for node in ast.walk(tree)),
            *((root / name).read_text(encoding="utf-8") for name in ("Makefile", "hatch_build.py")),
        ]
    )
    page = (root / "docs" / "troubleshooting.md").read_text(encoding="utf-8")
    headings = [
        code for line in re.findall(r"^### (.*)$", page, re.MULTILINE) for code in re.findall(r"`([^`]+)`", line)
    ]
    pieces = [piece.strip(" '?;:") for heading in headings for piece in heading.split("…")]
    assert len(pieces) > 25
    assert [piece for piece in pieces if piece not in said] == []


def _text(node: ast.AST) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
