"""Everything that can go wrong with an entry is a recorded failure with a reason, and the session goes on."""

from __future__ import annotations

import os
import pickle
import sys
from pathlib import Path

import pytest
from workplace import Answer, Workplace

from assay.record import Outcome, Record, SessionFolder

WRITE = """
import json, pathlib, sys
out = pathlib.Path(sys.argv[sys.argv.index("--benchmark-results-path") + 1])
def write(params, metrics):
    (out / "params.json").write_text(params)
    (out / "metrics.json").write_text(metrics)
"""
GOOD = 'write("{}", json.dumps({"is_success": True, "rows": 5}))'

SCRIPTS = {
    "exit3": 'sys.stderr.write("disk on fire\\n"); sys.exit(3)',
    "raises": 'raise ValueError("boom")',
    "long_reason": 'raise FileNotFoundError(2, "No such file or directory", "/data/" + "deep/" * 200 + "part.jsonl")',
    "lines": 'raise ValueError("2 settings are wrong:\\n  a: too small\\nsee the manual")',
    "segfault": "import os; os.kill(os.getpid(), 11)",
    "grandchild": 'import subprocess, time; subprocess.Popen(["sleep", "300"]); time.sleep(300)',
    "closed_stdout": "import os, time; os.close(1); os.close(2); time.sleep(300)",
    "stubborn": """
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        (out / "escaped").write_text(str(os.getpid()))
        while True: time.sleep(0.1)
    os._exit(0)
while True: time.sleep(0.1)
""",
    "corrupt": 'write("{}", "{broken")',
    "not_an_object": 'write("{}", "[1, 2]")',
    "nothing": "pass",
    "no_success": 'write("{}", json.dumps({"is_success": False}))',
    "nan": 'write("{}", json.dumps({"speed": float("nan")}))',
    "one_is_not_true": 'write("{}", json.dumps({"is_success": 1}))',
    "missing_metric": GOOD,
    "noisy": 'import os; os.write(1, b"\\xff" + b"y" * 1_048_576 + b"\\xfe"); ' + GOOD,
    "pickled": 'import shutil; shutil.copy("evil.pkl", out / "tasks.pkl"); ' + GOOD,
    "leaves_child": 'import subprocess; subprocess.Popen(["sleep", "300"]); ' + GOOD,
    "good": GOOD,
}

CONFIG = """
results_dir: results
default_timeout_s: 60
datasets:
  - {name: gone, formats: [{type: jsonl, path: no/such/folder}]}
  - {name: made, formats: [{type: jsonl, path: made}]}
data_setups:
  - {name: makes, command: "mkdir {dataset:made,jsonl}"}
entries:
  - {name: exit3, script: exit3.py}
  - {name: raises, script: raises.py}
  - {name: long_reason, script: long_reason.py}
  - {name: lines, script: lines.py}
  - {name: segfault, script: segfault.py}
  - {name: no_script, script: nowhere.py}
  - {name: no_interpreter, script: good.py, interpreter: /no/such/python}
  - {name: grandchild, script: grandchild.py, timeout_s: 0.6, grace_s: 0.3}
  - {name: closed_stdout, script: closed_stdout.py, timeout_s: 0.6, grace_s: 0.3}
  - {name: stubborn, script: stubborn.py, timeout_s: 1, grace_s: 0.3}
  - {name: corrupt, script: corrupt.py}
  - {name: not_an_object, script: not_an_object.py}
  - {name: nothing, script: nothing.py}
  - {name: no_success, script: no_success.py}
  - name: nan
    script: nan.py
    requirements: [{metric: speed, min_value: 1}]
  - name: one_is_not_true
    script: one_is_not_true.py
    requirements: [{metric: is_success, exact_value: true}]
  - name: missing_metric
    script: missing_metric.py
    requirements: [{metric: speed, max_value: 1}]
  - {name: lost_dataset, script: good.py, args: "--input {dataset:gone,jsonl}"}
  - {name: made_dataset, script: good.py, args: "--input {dataset:made,jsonl}/*.jsonl"}
  - {name: no_dataset, script: good.py, args: "--input {dataset:cc,parquet}"}
  - {name: needs_failed, script: good.py, needs: [exit3]}
  - {name: noisy, script: noisy.py}
  - {name: pickled, script: pickled.py}
  - {name: leaves_child, script: leaves_child.py}
  - {name: good, script: good.py}
"""


class Bomb:
    def __reduce__(self) -> tuple:
        return os.system, (f"touch {os.getcwd()}/exploded",)


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> tuple[Workplace, Answer, dict[str, Record]]:
    place = Workplace(tmp_path_factory.mktemp("failures"))
    for name, body in SCRIPTS.items():
        place.write(f"scripts/{name}.py", WRITE + body)
    place.write("session.yaml", CONFIG)
    (place.folder / "evil.pkl").write_bytes(pickle.dumps([Bomb()]))
    answer = place.assay("run", "--config", "session.yaml")
    return place, answer, place.records()


EXPECTED = {
    "makes": (Outcome.PASSED, None),
    "exit3": (Outcome.FAILED, "exited with code 3: disk on fire"),
    "raises": (Outcome.FAILED, "exited with code 1: ValueError: boom"),
    "long_reason": (
        Outcome.FAILED,
        "exited with code 1: FileNotFoundError: [Errno 2] No such file or directory: '/data",
    ),
    "lines": (Outcome.FAILED, "exited with code 1: ValueError: 2 settings are wrong: a: too small see the manual"),
    "segfault": (Outcome.CRASHED, "was ended by signal SIGSEGV"),
    "no_script": (Outcome.NOT_STARTED, "unknown script 'nowhere.py'"),
    "no_interpreter": (Outcome.NOT_STARTED, "cannot start /no/such/python: No such file or directory"),
    "grandchild": (Outcome.TIMEOUT, "ran longer than its limit of 0.6 s"),
    "closed_stdout": (Outcome.TIMEOUT, "ran longer than its limit of 0.6 s"),
    "stubborn": (Outcome.TIMEOUT, "ran longer than its limit of 1 s"),
    "corrupt": (Outcome.INVALID, "metrics.json is not valid JSON: line 1, column 2"),
    "not_an_object": (Outcome.INVALID, "metrics.json holds a list, not an object"),
    "nothing": (Outcome.INVALID, "wrote no params.json"),
    "no_success": (Outcome.INVALID, "its metric is_success is false"),
    "nan": (Outcome.MISSED, "speed is nan, required: ≥ 1"),
    "one_is_not_true": (Outcome.MISSED, "is_success is 1, required: = true"),
    "missing_metric": (Outcome.MISSED, "speed is required to be ≤ 1, but was not measured"),
    "lost_dataset": (Outcome.NOT_STARTED, "data set gone,jsonl does not exist: no/such/folder"),
    "made_dataset": (Outcome.PASSED, None),
    "no_dataset": (Outcome.NOT_STARTED, "unknown data set 'cc'"),
    "needs_failed": (Outcome.SKIPPED, "needs exit3, which did not pass"),
    "noisy": (Outcome.PASSED, None),
    "pickled": (Outcome.PASSED, None),
    "leaves_child": (Outcome.PASSED, None),
    "good": (Outcome.PASSED, None),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_each_failure_is_recorded_with_its_reason(ran: tuple[Workplace, Answer, dict[str, Record]], name: str) -> None:
    outcome, reason = EXPECTED[name]
    record = ran[2][name]
    assert record.outcome is outcome
    if reason is None:
        assert record.reasons == ()
    else:
        assert record.reasons[0].startswith(reason) or reason in record.reasons[0]


def test_the_session_goes_on_and_exits_with_1(ran: tuple[Workplace, Answer, dict[str, Record]]) -> None:
    place, answer, records = ran
    assert answer.code == 1
    assert list(records) == list(EXPECTED)
    assert place.sessions()[-1].info().status == "finished"
    assert place.sessions()[-1].report.is_file()


def test_a_reason_that_is_too_long_keeps_its_end(ran: tuple[Workplace, Answer, dict[str, Record]]) -> None:
    [reason] = ran[2]["long_reason"].reasons
    assert len(reason) < 600
    assert " … " in reason
    assert reason.endswith("deep/part.jsonl'")


def test_an_entry_without_its_data_set_is_not_started(ran: tuple[Workplace, Answer, dict[str, Record]]) -> None:
    place = ran[0]
    assert not (place.sessions()[-1].path / "lost_dataset/stdouterr.log").exists()
    assert "lost_dataset/logs" not in ran[1].out
    asked = place.assay("logs", "lost_dataset")
    assert asked.code == 2
    assert "it was not started: data set gone,jsonl does not exist: no/such/folder" in asked.err


def test_output_is_kept_exactly(ran: tuple[Workplace, Answer, dict[str, Record]]) -> None:
    folder = ran[0].sessions()[-1].path / "noisy"
    assert (folder / "logs/stdout.log").read_bytes() == b"\xff" + b"y" * 1_048_576 + b"\xfe"
    assert (folder / "stdouterr.log").read_bytes() == (folder / "logs/stdout.log").read_bytes()


def test_a_pickle_that_would_run_code_does_not_run_it(ran: tuple[Workplace, Answer, dict[str, Record]]) -> None:
    place, _, records = ran
    assert not (place.folder / "exploded").exists()
    assert not Path("exploded").exists()
    assert "not run, not imported" in records["pickled"].warnings[0]


def test_no_process_of_a_run_is_left(ran: tuple[Workplace, Answer, dict[str, Record]]) -> None:
    place, _, records = ran
    escaped = place.sessions()[-1].path / "stubborn/benchmark_results/escaped"
    assert not Path(f"/proc/{escaped.read_text()}").exists()
    assert records["leaves_child"].warnings == ("left 1 process(es) running; they were ended",)


def test_a_record_has_the_documented_fields(ran: tuple[Workplace, Answer, dict[str, Record]]) -> None:
    written = ran[2]["good"].to_json()
    for key in ("name", "success", "exec_time_s", "timeout", "script_params", "script_metrics", "tasks", "command",
                "returncode", "stdouterr_file", "run_id", "outcome", "reasons", "warnings", "requirements", "usage",
                "started_at", "fingerprint", "schema_version"):  # fmt: skip
        assert key in written
    assert written["command"].startswith(sys.executable)
    assert written["usage"]["cpu_s"] > 0


def test_every_file_of_the_documented_layout_is_there(ran: tuple[Workplace, Answer, dict[str, Record]]) -> None:
    session: SessionFolder = ran[0].sessions()[-1]
    for name in ("session.json", "session.log", "env.json", "results.jsonl", "report.html"):
        assert (session.path / name).is_file(), name
    assert "pytest==" in (session.path / "artifacts/pip-freeze.txt").read_text()
    own = ["stdouterr.log", "logs/stdout.log", "logs/stderr.log", "results.jsonl", "usage.csv"]
    for name in (*own, "benchmark_results/params.json", "benchmark_results/metrics.json"):
        assert (session.path / "good" / name).is_file(), name
    assert not (session.path / "good" / "scratch").exists()


def test_no_entry_runs_longer_than_the_ceiling(workplace: Workplace) -> None:
    workplace.write(
        "s.yaml", "max_timeout_s: 0.3\nentries: [{name: a, command: sleep 60, timeout_s: 50, grace_s: 0.2}]"
    )
    answer = workplace.assay("run", "--config", "s.yaml")
    assert answer.code == 1
    assert workplace.records()["a"].reasons == ("ran longer than its limit of 0.3 s",)
    assert "warning: a: timeout_s asks for 50 s, max_timeout_s allows 0.3" in answer.err
