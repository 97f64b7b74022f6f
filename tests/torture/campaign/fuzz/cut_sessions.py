"""Sessions that were cut short, joined ones too, with a damaged file: going on writes nothing outside and answers."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
from functools import cache, partial
from pathlib import Path

from readings import Answered, assay, tried

from campaign.damage import damaged_bytes, damaged_json, damaged_lines, packed, unpacked
from campaign.kind import Case, Trial

ENTRIES = [{"name": name, "command": "true", "timeout_s": 20} for name in ("a", "b")]
WORDS = {
    "cut": (("run", "--resume", "night", "--results-dir", "results"), ("rerun", "night/a", "--results-dir", "results")),
    "joined": (
        ("run", "--config", "s.yaml", "--join", "night", "--entries-exact", "b"),
        ("run", "--join", "night", "--finish", "--results-dir", "results"),
        ("show", "night", "--results-dir", "results"),
        ("run", "--resume", "night", "--results-dir", "results"),
        ("sinks", "flush", "night", "--results-dir", "results"),
    ),
}


class CutSessions:
    name, share, seconds = "cut", 2.0, 120.0

    def draw(self, rng: random.Random) -> Case:
        kind = rng.choice(list(WORDS))
        files = _right_files(kind)
        file = rng.choice([name for name in files if name.startswith("results/night/")])
        data = files[file]
        try:
            if file.endswith(".jsonl"):
                data = damaged_lines(data, rng)
            elif file.endswith(".json") and rng.random() < 0.9:
                data = damaged_json(json.loads(data), rng)
            else:
                data = damaged_bytes(data, rng)
        except ValueError:
            data = damaged_bytes(data, rng)
        return {"of": kind, "file": file, "data": packed(data)}

    def attempt(self, case: Case, folder: Path) -> Trial:
        place = folder / "place"
        for name, data in _right_files(case["of"]).items():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_bytes(data)
        (place / case["file"]).write_bytes(unpacked(case["data"]))
        trial, before = Trial(), _outside(folder)
        os.chdir(place)
        try:
            for words in WORDS[case["of"]]:
                trial.tried[f"{words[0]} {words[1] if words[1].startswith('--') else ''}".strip()] += 1
                if found := tried(" ".join(words[:2]), partial(_assay, case["of"], words), interrupted=True):
                    trial.found.append(str(found))
        finally:
            os.chdir("/")
        if _outside(folder) - before:
            trial.found.append(f"written outside the session: {sorted(_outside(folder) - before)}")
        return trial


def _assay(kind: str, words: tuple[str, ...]) -> Answered:
    """Jobs of a joined session know each other by their processes: each needs one of its own."""
    if kind != "joined":
        return assay(*words)
    command = [sys.executable, "-m", "assay", *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    return Answered(done.returncode, done.stdout, done.stderr)


def _outside(folder: Path) -> set[str]:
    """Files that belong to no session; the history and its like are Assay's own."""
    found = (str(path.relative_to(folder)) for path in folder.rglob("*") if "results" not in path.parts)
    return set(found)


@cache
def _right_files(kind: str) -> dict[str, bytes]:
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        (folder / "s.yaml").write_text(
            json.dumps({"results_dir": "results", "entries": ENTRIES, "sinks": [{"name": "jsonl"}]})
        )
        os.chdir(folder)
        try:
            name = ("--join", "night", "--entries-exact", "a") if kind == "joined" else ("--session-name", "night")
            answer = _assay(kind, ("run", "--config", "s.yaml", *name))
            assert answer.code == 0, answer
            if kind == "cut":
                _cut(folder)
        finally:
            os.chdir("/")
        return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def _cut(folder: Path) -> None:
    """Makes the folder what a killed session leaves: running, with its last record missing."""
    [session] = folder.glob("results/night*")
    session.rename(folder / "results/night")
    path = folder / "results/night/session.json"
    info = json.loads(path.read_text())
    path.write_text(json.dumps({**info, "status": "running", "finished_at": None}))
    results = folder / "results/night/results.jsonl"
    results.write_text("".join(results.read_text().splitlines(keepends=True)[:1]))
