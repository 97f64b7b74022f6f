from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from workplace import Workplace

import assay

HEAVY = {"pydantic", "numpy", "scipy", "ray", "rich", "jinja2", "yaml", "pyarrow", "numba", "pandas", "torch"}


def imported(*words: str) -> set[str]:
    code = f"import sys; sys.argv = ['assay', *{list(words)!r}]\nfrom assay.cli.main import main\n"
    code += "try: main()\nexcept SystemExit: pass\nprint(' '.join(sys.modules), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return {name.partition(".")[0] for name in done.stderr.split()}


def test_help_imports_nothing_heavy() -> None:
    assert imported("--help") & HEAVY == set()


def test_the_supervisor_of_a_run_imports_next_to_nothing() -> None:
    """Each run starts one: what it imports is paid for every time."""
    source = str(Path(assay.__file__).parent.parent)
    code = f"import sys; sys.path.append({source!r}); import assay.process.supervisor; print(' '.join(sys.modules))"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) & {*HEAVY, "typing", "re", "dataclasses", "inspect", "json", "subprocess"} == set()


def test_an_authors_script_imports_nothing_heavy() -> None:
    code = "import sys, assay\nwith assay.benchmark([]) as b: b.metric('x', 1)\n"
    code += "print(' '.join(sys.modules), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {name.partition(".")[0] for name in done.stderr.split()} & HEAVY == set()


@pytest.mark.parametrize("words", [(), ("nonsense",), ("run", "--nonsense"), ("run",)])
def test_wrong_words_are_one_message_and_exit_2(workplace: Workplace, words: tuple[str, ...]) -> None:
    answer = workplace.assay(*words)
    assert answer.code == 2
    assert answer.err


def test_every_command_has_help(workplace: Workplace) -> None:
    from assay.cli.command_table import COMMANDS

    for command in COMMANDS:
        answer = workplace.assay(command.name, "--help")
        assert answer.code == 0, answer.err
        assert "usage:" in answer.out


def test_the_schema_accepts_what_assay_accepts(workplace: Workplace) -> None:
    import json

    schema = json.loads(workplace.assay("schema").out)
    assert schema["properties"]["entries"]["items"] == {"$ref": "#/$defs/EntryConfig"}
    assert "timeout_s" in schema["$defs"]["EntryConfig"]["properties"]


def test_the_doctor_names_what_is_missing_and_how_to_get_it(workplace: Workplace) -> None:
    answer = workplace.assay("doctor")
    assert answer.code == 0
    assert "extra ray" in answer.out
    assert "✓ Python" in answer.out


def test_init_never_overwrites(workplace: Workplace) -> None:
    assert workplace.assay("init").code == 0
    again = workplace.assay("init")
    assert again.code == 2
    assert "exists already" in again.err
