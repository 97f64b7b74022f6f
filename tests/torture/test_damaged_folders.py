"""A session folder that is damaged costs one message, and hides no other session."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from damaged_session import ENTRY, FILES, NAME, OTHER, DamagedSession
from mutants import json_mutants, sampled, torn
from readings import assay, findings, tried

FOUND_BEFORE = {
    "session.json": ("planned[0] := empty object", "finished_at := word", "viewer_url := fraction", "name := zero",
                     "reason := empty list", "started_at := last time", "finished_at := time without zone"),
    "env.json": ("memory_mb := empty text", "packages := word", "git_commit := too large for a float",
                 "packages.ray := samples", "gpus := true"),
    "results.jsonl": ("usage.wall_s := word", "name := list", "script_params := true", "warmup := time without zone",
                      "fingerprint.entry := root path", "name := null character", "name := long text",
                      "environment.packages := list of lists", "git_commit := too large for a float"),
    "alm/results.jsonl": ("tasks := too deep", "tasks[0].metrics := list"),
}  # fmt: skip
"""What was a traceback once."""


@pytest.mark.parametrize("file", FILES)
def test_what_was_found_stays_mended(tmp_path: Path, file: str) -> None:
    session = DamagedSession(tmp_path / "results")
    wanted = {f"{file}: {what}" for what in FOUND_BEFORE[file]}
    mutants = [mutant for mutant in session.mutants(file) if mutant.what in wanted]
    assert {mutant.what for mutant in mutants} == wanted
    for mutant in mutants:
        session.write(file, mutant)
        assert [str(found) for found in findings(session.results, NAME, OTHER, ENTRY)] == [], mutant.what


@pytest.mark.parametrize("file", FILES)
def test_every_reading_of_a_damaged_file_answers(tmp_path: Path, file: str) -> None:
    session = DamagedSession(tmp_path / "results")
    for mutant in sampled(session.mutants(file), 3):
        session.write(file, mutant)
        assert [str(found) for found in findings(session.results, NAME, OTHER, ENTRY)] == [], mutant.what


@pytest.mark.parametrize("file", ["session.json", "env.json", "results.jsonl"])
def test_every_wrong_value_is_read_or_refused_by_name(tmp_path: Path, file: str) -> None:
    session = DamagedSession(tmp_path / "results")
    results = ("--results-dir", str(session.results))
    mutants = sampled(session.mutants(file), 60, seed=1)
    for mutant in mutants:
        session.write(file, mutant)
        assert tried("show", lambda: assay("show", NAME, *results)) is None, mutant.what
        answer = assay("show", NAME, *results)
        assert answer.code == 0 or str(session.folder / file) in answer.err, (mutant.what, answer.err)


def test_a_torn_file_is_read_as_far_as_it_is_whole(tmp_path: Path) -> None:
    session = DamagedSession(tmp_path / "results")
    for file in ("results.jsonl", "session.json"):
        for mutant in torn((session.folder / file).read_bytes(), 25, seed=3):
            session.write(file, mutant)
            found = tried("show", lambda: assay("show", NAME, "--results-dir", str(session.results)))
            assert found is None, f"{file}: {mutant.what}: {found}"
        session.mend()


def test_the_message_names_file_line_and_field(tmp_path: Path) -> None:
    session = DamagedSession(tmp_path / "results")
    lines = (session.folder / "results.jsonl").read_text().splitlines()
    second = json.loads(lines[1])
    second["usage"]["cpu_s"] = "much"
    (session.folder / "results.jsonl").write_text(f"{lines[0]}\n{json.dumps(second)}\n")
    answer = assay("show", NAME, "--results-dir", str(session.results))
    where = session.folder / "results.jsonl"
    assert answer.code == 2
    assert answer.err == f"assay: {where}:2: is not a record: usage.cpu_s is text, not a number\n"


def test_one_damaged_session_hides_no_other(tmp_path: Path) -> None:
    session = DamagedSession(tmp_path / "results")
    (session.folder / "session.json").write_text('{"name": [], "started_at": 3}')
    (session.folder / "env.json").write_text('{"git_commit": 7}')
    there = ("--results-dir", str(session.results))
    assert assay("show", "latest", *there).code == 0
    assert assay("show", "a" * 40, *there).code == 0
    assert assay("compare", *there).code in (0, 1, 3)
    imported = assay("history", *there, "import")
    assert imported.code == 2
    assert imported.out.count(" new, ") == 2
    assert "session.json: name is a list, not text" in imported.err


FOREIGN = {
    "hyperfine": {"results": [{"command": "sleep 1", "median": 1.0, "times": [1.0, 1.1], "exit_codes": [0, 0]}]},
    "pyperf": {"benchmarks": [{"metadata": {"name": "b"}, "runs": [{"metadata": {"cpu_count": 3}, "values": [1.0]}]}]},
    "pytest": {
        "machine_info": {"node": "n", "cpu": {"count": 4}}, "commit_info": {"id": "a" * 40, "dirty": False},
        "benchmarks": [{"fullname": "t", "stats": {"median": 1.0, "data": [1.0, 2.0]}, "extra_info": {"k": 1}}],
    },
}  # fmt: skip


@pytest.mark.parametrize("tool", FOREIGN)
def test_a_damaged_file_of_another_tool_leaves_nothing_half_written(tmp_path: Path, tool: str) -> None:
    file, results = tmp_path / f"{tool}.json", tmp_path / "results"
    results.mkdir()
    for mutant in sampled(json_mutants(FOREIGN[tool]), 60):
        file.write_bytes(mutant.data)
        found = tried("import", lambda: assay("history", "--results-dir", str(results), "import", str(file)))
        assert found is None, f"{mutant.what}: {found}"
    folders = [path for path in results.iterdir() if path.is_dir()]
    assert all((path / "session.json").is_file() for path in folders)
    assert assay("history", "--results-dir", str(results), "import").code == 0


def test_a_file_with_a_long_name_is_imported(tmp_path: Path) -> None:
    file = tmp_path / f"{'n' * 250}.json"
    file.write_text(json.dumps(FOREIGN["hyperfine"]))
    answer = assay("history", "--results-dir", str(tmp_path / "results"), "import", str(file))
    assert (answer.code, answer.err) == (0, "")
