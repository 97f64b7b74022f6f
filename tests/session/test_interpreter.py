"""An entry belongs to its interpreter: what is recorded of it, and the Ray it gets, are that interpreter's."""

from __future__ import annotations

import platform
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
from other_environment import other_python, other_python_version, version_of
from workplace import Workplace

from assay.record import Outcome, Record
from assay.session.capture_environment import InterpreterUnknown, ask_interpreter

SCRIPT = """
import json, pathlib, platform, sys
out = pathlib.Path(sys.argv[sys.argv.index("--benchmark-results-path") + 1])
(out / "params.json").write_text("{}")
(out / "metrics.json").write_text(json.dumps({"executable": sys.executable}))
"""
SQUARES = """
import json, pathlib, sys
import ray
out = pathlib.Path(sys.argv[sys.argv.index("--benchmark-results-path") + 1])
ray.init()
@ray.remote
def where(x): return ray.__version__, sys.executable
(out / "params.json").write_text("{}")
(out / "metrics.json").write_text(json.dumps({"workers": sorted(set(ray.get([where.remote(i) for i in range(4)])))}))
"""


def listed(workplace: Workplace, *inside: str) -> dict[str, str]:
    path = workplace.sessions()[-1].path.joinpath(*inside, "artifacts", "pip-freeze.txt")
    return dict(line.split("==", 1) for line in path.read_text().splitlines())


def told(record: Record) -> tuple[str, str, str | None]:
    assert record.environment is not None
    return record.environment.interpreter, record.environment.python, record.environment.packages.get("nemo-curator")


def test_an_entry_with_an_interpreter_tells_of_that_one(workplace: Workplace) -> None:
    workplace.write("script.py", SCRIPT)
    other = other_python()
    config = f"entries: [{{name: other, script: script.py, interpreter: {other}}}, {{name: own, script: script.py}}]"
    workplace.write("session.yaml", config)
    assert workplace.assay("run", "--config", "session.yaml").code == 0
    records, session = workplace.records(), workplace.sessions()[-1]
    assert records["other"].script_metrics["executable"] == other
    assert told(records["other"]) == (other, other_python_version(), version_of("nemo-curator"))
    assert records["own"].environment is None
    theirs, ours = listed(workplace, "other"), listed(workplace)
    assert theirs["nemo-curator"] == version_of("nemo-curator")
    assert "pydantic" not in theirs
    assert len(theirs) < len(ours)
    assert "nemo-curator" not in ours
    assert listed(workplace, "own") == ours
    assert "nemo-curator" not in session.environment().packages
    said = f"with {other}, Python {other_python_version()}"
    assert session.path.joinpath("report.html").read_text().count(said) == 1


def test_the_interpreter_of_a_session_is_that_of_its_scripts_and_of_its_environment(workplace: Workplace) -> None:
    workplace.write("script.py", SCRIPT)
    other = other_python()
    entries = "[{name: script, script: script.py}, {name: bundled, script: test_benchmark.py, args: --iterations 1}]"
    workplace.write("session.yaml", f"interpreter: ${{OTHER}}\nentries: {entries}")
    answer = workplace.assay("run", "--config", "session.yaml", OTHER=other)
    assert answer.code == 0, answer.out
    records, environment = workplace.records(), workplace.sessions()[-1].environment()
    assert (environment.interpreter, environment.packages["ray"]) == (other, version_of("ray"))
    assert listed(workplace)["nemo-curator"] == version_of("nemo-curator")
    assert told(records["script"])[0] == other
    assert told(records["bundled"]) == (sys.executable, platform.python_version(), None), "bundled: Assay's own"
    assert listed(workplace, "bundled")["pydantic"] == version("pydantic")


@pytest.mark.slow
def test_a_script_with_another_ray_than_assays_gets_a_cluster_of_its_own_ray(workplace: Workplace) -> None:
    workplace.write("squares.py", SQUARES)
    other = other_python()
    assert version_of("ray") != version("ray")
    ray = "{num_cpus: 1, isolation: namespace, object_store_size: 100000000}"
    workplace.write("session.yaml", f"entries: [{{name: e, script: squares.py, interpreter: {other}, ray: {ray}}}]")
    answer = workplace.assay("run", "--config", "session.yaml")
    record = workplace.records()["e"]
    assert record.success, answer.out
    assert record.script_metrics["workers"] == [[version_of("ray"), other]]
    assert record.environment is not None
    assert record.environment.packages["ray"] == version_of("ray")


def test_what_an_interpreter_lacks_is_said_in_one_sentence(workplace: Workplace, tmp_path: Path) -> None:
    bare = tmp_path / "bare" / "python"
    bare.parent.mkdir()
    bare.write_text(f'#!/bin/sh\nexec {sys.executable} -I -S "$@"\n')
    mute = tmp_path / "mute"
    refuse = '[ "$1" = -c ] && { echo "no such option" >&2; exit 3; }'
    mute.write_text(f'#!/bin/sh\n{refuse}\nexec {sys.executable} "$@"\n')
    bare.chmod(0o755)
    mute.chmod(0o755)
    workplace.write("script.py", SCRIPT)
    workplace.write(
        "session.yaml",
        f"""entries:
  - {{name: no_ray, script: script.py, interpreter: {bare}, ray: {{num_cpus: 1}}}}
  - {{name: gone, script: script.py, interpreter: /no/such/python}}
  - {{name: mute, script: script.py, interpreter: {mute}}}
  - {{name: mute_ray, script: script.py, interpreter: {mute}, ray: {{num_cpus: 1}}}}
""",
    )
    planned = workplace.assay("plan", "--config", "session.yaml")
    assert planned.code == 1
    assert [line for line in planned.out.splitlines() if "✗" in line] == [
        "  ✗ interpreter /no/such/python does not exist, or is no program"
    ]
    workplace.assay("run", "--config", "session.yaml")
    records = workplace.records()
    unknown = f"{mute} did not say which Python it is (exit code 3: no such option)"
    assert {name: (record.outcome, record.reasons) for name, record in records.items()} == {
        "no_ray": (
            Outcome.NOT_STARTED,
            (f"asks for a Ray cluster, but {bare} has no Ray: {bare} -m pip install 'ray[default]'",),
        ),
        "gone": (Outcome.NOT_STARTED, ("cannot start /no/such/python: No such file or directory",)),
        "mute": (Outcome.PASSED, ()),
        "mute_ray": (Outcome.NOT_STARTED, (unknown,)),
    }
    assert records["mute"].warnings == (f"{unknown}; its packages are not recorded",)
    assert records["mute"].environment is None


def test_what_a_python_prints_when_it_starts_does_no_harm(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("print('hello from the site', end='')")
    asked = ask_interpreter(sys.executable, {"PYTHONPATH": str(tmp_path)}, tmp_path)
    assert asked.python == platform.python_version()
    assert asked.has("pydantic")
    with pytest.raises(InterpreterUnknown):
        ask_interpreter("/bin/true", {}, tmp_path)
