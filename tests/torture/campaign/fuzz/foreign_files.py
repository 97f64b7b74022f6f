"""Files of other tools, imported; configurations of every form, planned. Damaged documents and torn text."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path

import yaml
from readings import assay, tried
from test_damaged_folders import FOREIGN

from campaign.damage import damaged_bytes, damaged_json, packed, unpacked
from campaign.kind import Case, Trial

EXAMPLES = Path(__file__).parents[4] / "examples"


class ForeignFiles:
    name, share, seconds = "foreign", 1.0, 20.0

    def draw(self, rng: random.Random) -> Case:
        document = FOREIGN[rng.choice(list(FOREIGN))]
        torn = rng.random() < 0.2
        data = damaged_bytes(json.dumps(document).encode(), rng) if torn else damaged_json(document, rng)
        return {"data": packed(data)}

    def attempt(self, case: Case, folder: Path) -> Trial:
        file, results = folder / "foreign.json", folder / "results"
        results.mkdir()
        file.write_bytes(unpacked(case["data"]))
        trial = Trial(Counter({"imports": 1}))
        found = tried("import", lambda: assay("history", "--results-dir", str(results), "import", str(file)))
        trial.found += [str(found)] if found else []
        half = [path for path in results.iterdir() if path.is_dir() and not (path / "session.json").is_file()]
        trial.found += [f"half a session is left: {sorted(path.name for path in half)}"] if half else []
        if any(path.is_dir() for path in results.iterdir()):
            again = assay("history", "--results-dir", str(results), "import")
            trial.found += [f"what was imported cannot be read again: {again.err}"] if again.code else []
        return trial


CONFIGS = {
    "quickstart.yaml": ("plan", "--config", "FILE"),
    "production.yaml": ("plan", "--config", "FILE"),
    "weights.yaml": ("run", "--list", "--config", "FILE"),
    "nightly_matrix.yaml": ("migrate", "FILE"),
    "colocation/session.yaml": ("plan", "--config", "FILE"),
    "colocation/two_pipelines.yml": ("colocate", "--check", "FILE"),
    "colocation/graph.yml": ("colocate", "--check", "FILE"),
    "colocation/antagonists.yml": ("colocate", "--check", "FILE"),
    "pipeline_configs/noop.yml": ("colocate", "--check", "FILE"),
    "pipeline_configs/self_rag.yml": ("colocate", "--check", "FILE"),
}
_YAML = ("&a [*a]", "!!python/object:os.system {}", "<<: *x", "? [a, b] : c", "\t- x", "%YAML 9.9\n---",
         "!!binary x", "|2-",
         "&a {x: &b {y: [*a, *b]}}", "2026-02-30", "0o9", "1_000", "~", "---\n---", "a: b: c", "\x85", "{" * 40,
         "${X:-${Y}}",
         "!!timestamp 1", "=", "<<: [1, 2]", "? ", "- - - -", "!<!>", "\ufeff")  # fmt: skip
"""What only YAML can say, or half of it."""


class Configurations:
    name, share, seconds = "yaml", 1.0, 20.0

    def draw(self, rng: random.Random) -> Case:
        file = rng.choice(list(CONFIGS))
        text = (EXAMPLES / file).read_text()
        how = rng.random()
        if how < 0.6:
            data = damaged_json(json.loads(json.dumps(yaml.safe_load(text), default=str)), rng)
        elif how < 0.8:
            data = damaged_bytes(text.encode(), rng)
        else:
            lines = text.splitlines()
            at = rng.randrange(len(lines))
            kept = lines[at].partition(":")[0] + ": " if ":" in lines[at] and rng.random() < 0.7 else ""
            lines[at] = kept + rng.choice(_YAML)
            data = "\n".join(lines).encode(errors="replace")
        return {"file": file, "data": packed(data)}

    def attempt(self, case: Case, folder: Path) -> Trial:
        path = folder / Path(case["file"]).name
        path.write_bytes(unpacked(case["data"]))
        words = [str(path) if word == "FILE" else word for word in CONFIGS[case["file"]]]
        found = tried(f"{words[0]} json", lambda: assay(*words))
        return Trial(Counter({"configurations": 1}), [str(found)] if found else [])
