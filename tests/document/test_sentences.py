"""What is said of files that cannot be read: all of it, as a user meets it."""

from __future__ import annotations

from pathlib import Path

import pytest
from workplace import Workplace

CASES = {
    "entries:\n\t- name: a\n": "2:1: line 2 starts with a tab; use spaces",
    "entries:\n  - just text\n": "2:5: entries[0]: must be a mapping with `name:`, not 'just text'",
    "entries: a\n": "1:10: entries: must be a list, each item on a line that begins with `- `, not 'a'",
    "entries:\n  - name: @a\n": "2:11: a value cannot begin with @; put it in quotes",
    'entries:\n  - name: "a\n': "3:1: the quote that opens at line 2, column 11, is never closed",
    "entries: [1, 2\nb: 3\n": "2:2: the [ that opens at line 1, column 10, is never closed, or a comma is missing",
    "entries: {a: 1\n": "2:1: the { that opens at line 1, column 10, is never closed, or a comma is missing",
    "a: b: c\n": "1:5: a `:` is not expected here; put the text in quotes, or mend the indentation",
    "a:\n   b: 1\n  c: 2\n": "3:3: the line is indented as no line above it is; mend the indentation",
    'a: "x" y: 2\n': "1:8: not YAML: did not find expected key",
    'a: "\\d"\n': "1:5: in double quotes a backslash begins an escape; use single quotes, or write two backslashes",
    "entries:\n  - {name: a, repeat: some}\n": "2:23: entries[0].repeat: must be a whole number, not 'some'",
    "entries:\n  - {name: a, timeout_s: long}\n": "2:26: entries[0].timeout_s: must be a number, not 'long'",
    "entries:\n  - {name: a, enabled: [1]}\n": "2:24: entries[0].enabled: must be true or false",
    "results_dir: [1]\n": "1:14: results_dir: must be text",
}


@pytest.mark.parametrize("text", CASES)
def test_a_problem_is_said_in_plain_words(workplace: Workplace, tmp_path: Path, text: str) -> None:
    path = workplace.write("f.yaml", text)
    answer = workplace.assay("plan", "--config", str(path))
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.splitlines()[0] == f"assay: {path}:{CASES[text]}"
