"""What is not small and plain is read in a process that can be killed, with the same answer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.session.results import program_results
from assay.session.results.program_results import read_results, results_of

YEARS = b"\x80\x04}N\x85" + b"2\x86" * 60 + b"Ns."
"""A tuple doubled 60 times as the key of a dictionary: its hash would take years."""
PLAIN = b"\x80\x04]."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "params.json").write_text('{"seed": 1}')
    (tmp_path / "metrics.json").write_text('{"rows": 5}')
    return tmp_path


def test_a_pickle_that_never_ends_costs_a_warning(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program_results, "SECONDS", 1.0)
    (folder / "tasks.pkl").write_bytes(YEARS)
    results = results_of(folder, required=True)
    assert results.warnings == ["its tasks could not be read: that took longer than 1 s; they were left out"]
    assert (results.params, results.metrics, results.problems) == ({"seed": 1}, {"rows": 5}, [])


def test_results_that_need_too_much_memory_make_the_run_invalid(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program_results, "MEMORY", 64 << 20)
    monkeypatch.setattr(program_results, "MEMORY_PER_BYTE", 0)
    (folder / "metrics.json").write_text(json.dumps({"rows": list(range(4_000_000))}))
    results = results_of(folder, required=True)
    assert results.problems == ["its results could not be read: that took more memory than 64 MB"]


def test_read_apart_or_at_once_the_results_are_the_same(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "metrics.json").write_text('{"rows": {"value": NaN, "unit": "1"}, "n": 5, "far": Infinity}')
    lines = [json.dumps({"stage": "s", "metrics": {"t": number}, "invocation": str(number)}) for number in range(9)]
    (folder / "tasks.jsonl").write_text("\n".join([*lines, "broken"]))
    at_once = results_of(folder, required=True)
    assert repr(at_once) == repr(read_results(folder, required=True))
    monkeypatch.setattr(program_results, "SMALL", 10)
    assert repr(results_of(folder, required=True)) == repr(at_once)


def test_small_plain_files_start_no_process(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a process was started")

    monkeypatch.setattr(program_results.subprocess, "Popen", refuse)  # type: ignore[attr-defined]
    (folder / "tasks.jsonl").write_text('{"stage": "s", "metrics": {"t": 1}}')
    (folder / "tasks.pkl").write_bytes(PLAIN)  # beside the lines it is not read
    assert results_of(folder, required=True).metrics["rows"] == 5
