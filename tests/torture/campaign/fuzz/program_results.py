"""What benchmark programs leave, read by whole sessions: every run has one record, whatever its program wrote."""

from __future__ import annotations

import json
import random
import shlex
from collections import Counter
from pathlib import Path

from readings import assay

from assay.record import SessionFolder
from campaign.damage import damaged_bytes, damaged_json, damaged_lines, packed, unpacked
from campaign.fuzz.pickles import damaged_pickle, right_pickle
from campaign.kind import Case, Trial

RUNS = 8
PARAMS = {"rows": 3, "path": "data", "flags": [True, None], "nested": {"seed": 1.5}}
METRICS = {"is_success": True, "rows_per_s": 5.5, "n": 3, "word": "fast", "list": [1, 2], "speed": {"value": 2.0}}
DETAIL = {"rows_per_s": {"unit": "1/s", "better": "higher", "samples": [1.0, 2.0], "margin": 0.1, "exact": False}}
TASKS = [{"stage": f"s{n}", "metrics": {"process_time": 0.5, "items": n}, "invocation": str(n)} for n in range(3)]


class ProgramResults:
    name, share, seconds = "results", 2.0, 60.0

    def draw(self, rng: random.Random) -> Case:
        return {"runs": [_drawn(rng) for _ in range(RUNS)]}

    def attempt(self, case: Case, folder: Path) -> Trial:
        entries = []
        for number, files in enumerate(case["runs"]):
            made = folder / f"made-{number}"
            made.mkdir()
            for file, data in files.items():
                (made / file).write_bytes(unpacked(data))
            copied = f'cp -r {shlex.quote(str(made))}/. "$ASSAY_BENCHMARK_RESULTS_PATH"'
            entries.append({"name": f"e{number}", "command": f"sh -c {shlex.quote(copied)}", "timeout_s": 60})
        config = folder / "session.yaml"
        config.write_text(json.dumps({"results_dir": str(folder / "results"), "entries": entries}))
        answer = assay("run", "--config", str(config))
        trial = Trial(Counter({"runs": len(entries)}))
        if answer.code not in (0, 1) or "Traceback" in answer.err:
            trial.found.append(f"assay run ended with {answer.code}: {answer.err[-1500:]}")
        [session] = [SessionFolder(path.parent) for path in (folder / "results").glob("*/session.json")]
        names = Counter(record.name for record in session.records())
        if names != Counter(f"e{number}" for number in range(len(entries))):
            trial.found.append(f"records: {dict(names)}")
        if session.info().status != "finished":
            trial.found.append(f"the session is left as {session.info().status}")
        for words in (("show", session.path.name), ("report", session.path.name, "--output", "-")):
            read = assay(*words, "--results-dir", str(folder / "results"))
            if read.code not in (0, 1):
                trial.found.append(f"assay {words[0]} ended with {read.code}: {read.err[-500:]}")
        return trial


def _drawn(rng: random.Random) -> dict[str, str]:
    right = {
        "params.json": json.dumps(PARAMS).encode(),
        "metrics.json": json.dumps(METRICS).encode(),
        "metrics_detail.json": json.dumps(DETAIL).encode(),
    }
    tasks = rng.choice(("tasks.jsonl", "tasks.pkl"))
    lines = b"\n".join(json.dumps(task).encode() for task in TASKS)
    right[tasks] = lines if tasks.endswith("l") and tasks != "tasks.pkl" else right_pickle()
    file = rng.choice(list(right))
    if file == "tasks.pkl":
        right[file] = damaged_pickle(right[file], rng)
    elif file == "tasks.jsonl":
        right[file] = damaged_lines(right[file], rng)
    elif rng.random() < 0.1:
        right[file] = damaged_bytes(right[file], rng)
    else:
        right[file] = damaged_json(json.loads(right[file]), rng)
    return {name: packed(data) for name, data in right.items()}
