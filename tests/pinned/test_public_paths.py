"""Every path and name in `public_paths.txt` leads somewhere: users have them in code, configurations and scripts."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from workplace import Workplace

ROOT = Path(__file__).parent.parent.parent


def _read() -> dict[str, list[str]]:
    paths: dict[str, list[str]] = {}
    for line in Path(__file__).with_name("public_paths.txt").read_text().splitlines():
        if line.startswith("# "):
            kind = line[2:].partition(":")[0]
            paths[kind] = []
        elif line:
            paths[kind].append(line)
    return paths


PATHS = _read()
LOOK = """\
import json, sys
from importlib.util import find_spec
from pathlib import Path
from pkgutil import resolve_name

def start(name):
    spec = find_spec(name)
    if spec is not None and spec.submodule_search_locations is not None:
        spec = find_spec(name + ".__main__")
    if spec is None or "__main__" not in Path(spec.origin).read_text() + Path(spec.origin).name:
        raise ImportError("python -m does not start it")

def executor(name):
    from assay.pipeline import executor_named
    executor_named(name)

def sink(name):
    from assay.sinks import check_spec
    wrong = [each for each in check_spec({"name": name}) if "unknown" in each]
    if wrong:
        raise ImportError(wrong[0])

CHECKS = {"resolve": resolve_name, "start": start, "executor": executor, "sink": sink}
failed = []
for check, path in json.loads(Path("asked.json").read_text()):
    try:
        CHECKS[check](path)
    except Exception as error:
        failed.append(f"{path}: {type(error).__name__}: {error}")
Path("failed.json").write_text(json.dumps(failed))
"""


def _ask(place: Workplace, asked: list[tuple[str, str]]) -> None:
    place.write("look.py", LOOK)
    place.write("asked.json", json.dumps(asked))


def _check_answers(place: Workplace) -> None:
    failed = json.loads((place.folder / "failed.json").read_text())
    assert not failed, "\n".join(failed)


def test_the_list_is_sorted_and_names_nothing_twice() -> None:
    for kind, paths in PATHS.items():
        assert paths == sorted(set(paths)), kind


def test_paths_are_importable_and_names_known(workplace: Workplace) -> None:
    asked = [("resolve", path) for path in PATHS["import"] + PATHS["prose"]]
    asked += [("resolve", f"assay.{path}") for path in PATHS["component"]]
    asked += [("start", path) for path in PATHS["program"]]
    asked += [("executor", name) for name in PATHS["executor"]] + [("sink", name) for name in PATHS["sink"]]
    _ask(workplace, asked)
    subprocess.run([sys.executable, "look.py"], cwd=workplace.folder, env=workplace.environment, check=True)
    _check_answers(workplace)


def test_other_frameworks_are_stood_in_for(workplace: Workplace) -> None:
    asked = [("resolve", path) for path in PATHS["stand-in"]] + [("start", path) for path in PATHS["stand-in program"]]
    _ask(workplace, asked)
    look = f"cd {workplace.folder} && {sys.executable} look.py"
    answer = workplace.assay("run", "--quiet", "--runs", "1", "--warmup", "0", "--shell", "--", look)
    assert answer.code == 0, answer.out + answer.err
    _check_answers(workplace)


def test_scripts_are_found(workplace: Workplace) -> None:
    entries = [{"name": f"entry{at}", "script": name} for at, name in enumerate(PATHS["script"])]
    workplace.write("scripts.yaml", json.dumps({"entries": entries}))
    answer = workplace.assay("plan", "--config", "scripts.yaml")
    unknown = [line for line in answer.out.splitlines() if "unknown script" in line]
    assert not unknown, "\n".join(unknown)
    assert f"{len(entries)} entries" in answer.out, answer.out + answer.err


ARGUMENTS: dict[str, dict[str, object]] = {
    "concurrent": {"concurrency": 1},
    "constant": {"rate": 1},
    "gamma": {"rate": 1},
    "poisson": {"rate": 1},
    "ramp": {"start_rate": 1, "end_rate": 2, "seconds": 1},
    "steps": {"steps": [{"rate": 1, "seconds": 1}]},
    "trace": {"path": "trace.csv"},
}
"""What these schedulers cannot do without."""


def test_names_in_pipelines_are_known(workplace: Workplace) -> None:
    pairs = [("offline", stage) for stage in PATHS["stage"]] + [(name, "no_op") for name in PATHS["scheduler"]]
    pipelines = []
    for at, (scheduler, stage) in enumerate(pairs):
        load = {"component": scheduler, "max_queries": 1, "timeout": 60, "config": ARGUMENTS.get(scheduler, {})}
        pipelines.append({"name": f"p{at}", "loadgen": load, "stages": [{"id": 0, "component": stage}]})
    workplace.write("trace.csv", "timestamp\n0\n1\n")
    workplace.write("names.yml", json.dumps({"name": "names", "pipelines": pipelines}))
    answer = workplace.assay("colocate", "names.yml", "--check")
    assert (answer.code, answer.err) == (0, "")


@pytest.mark.parametrize("path", PATHS["file"])
def test_files_are_there(path: str) -> None:
    assert (ROOT / path).exists()
