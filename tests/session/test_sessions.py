"""What a session does with what its YAML says."""

from __future__ import annotations

import json
import sys

import pytest
from workplace import Workplace

from assay.record import Outcome

SCRIPT = """
import json, os, pathlib, sys
out = next(pathlib.Path(a.partition("=")[2]) for a in sys.argv if a.startswith("--benchmark-results-path="))
out.mkdir(parents=True, exist_ok=True)
(out / "params.json").write_text(json.dumps({"argv": sys.argv[1:], "env": os.environ.get("COLOUR")}))
(out / "metrics.json").write_text(json.dumps({"is_success": True, "cpus": len(os.sched_getaffinity(0))}))
with open("order.log", "a") as log: log.write(os.environ["ASSAY_RUN_ID"].partition("/")[2] + "\\n")
"""
TO_RESULTS = "--benchmark-results-path={session_entry_dir}"


def with_script(place: Workplace, config: str, script: str = SCRIPT) -> None:
    place.write("scripts/s.py", script)
    place.write("session.yaml", config)


def test_results_are_read_from_the_path_the_program_was_really_given(workplace: Workplace) -> None:
    with_script(workplace, f"entries: [{{name: a, script: s.py, args: '{TO_RESULTS}/deep/er'}}]")
    assert workplace.assay("run", "--config", "session.yaml").code == 0
    assert (workplace.sessions()[-1].path / "a/deep/er/metrics.json").is_file()


def test_a_path_with_a_space_stays_one_argument_and_no_shell_runs(workplace: Workplace) -> None:
    (workplace.folder / "my data").mkdir()
    config = f"""
datasets:
  - name: cc
    formats: [{{type: json, path: "{workplace.folder}/my data"}}]
paths: {{model_dir: /models/a b}}
entries:
  - name: a
    script: s.py
    args: >-
      --input {{dataset:cc,json}} --model {{model_dir}}
      --evil $(touch${{IFS}}owned) ';touch owned' {{{{literal}}}} {TO_RESULTS}
"""
    with_script(workplace, config)
    answer = workplace.assay("run", "--config", "session.yaml", IFS="_")
    assert answer.code == 0, answer.err
    argv = workplace.records()["a"].script_params["argv"]
    assert argv[:7] == [
        "--input", f"{workplace.folder}/my data", "--model", "/models/a b", "--evil", "$(touch_owned)", ";touch owned",
    ]  # fmt: skip
    assert argv[7] == "{literal}"
    assert not (workplace.folder / "owned").exists()


def test_secrets_reach_no_file_that_is_kept_or_shown(workplace: Workplace) -> None:
    config = f"""
entries:
  - name: a
    script: s.py
    args: --auth ${{MY_TOKEN}} --api-key=plain-key --password plain-word {TO_RESULTS}
"""
    with_script(workplace, config)
    answer = workplace.assay(
        "run", "--config", "session.yaml", "--reason", "with s3cr3t-value", MY_TOKEN="s3cr3t-value"
    )
    assert answer.code == 0, answer.err
    session = workplace.sessions()[-1].path
    kept = [session / name for name in ("session.json", "results.jsonl", "session.log", "report.html", "env.json")]
    shown = answer.out + answer.err + "".join(path.read_text() for path in [*kept, session / "a/results.jsonl"])
    assert "s3cr3t-value" not in shown
    command = workplace.records()["a"].command
    assert "plain-key" not in command
    assert "plain-word" not in command
    assert "MY_TOKEN" in command


def test_repeats_are_interleaved_and_warmups_come_first(workplace: Workplace) -> None:
    config = f"""
entries:
  - {{name: a, script: s.py, args: '{TO_RESULTS}', repeat: 2, warmup: 1}}
  - {{name: b, script: s.py, args: '{TO_RESULTS}', repeat: 3}}
  - {{name: c, script: s.py, args: '{TO_RESULTS}'}}
"""
    with_script(workplace, config)
    assert workplace.assay("run", "--config", "session.yaml").code == 0
    order = (workplace.folder / "order.log").read_text().split()
    assert order == ["a/warmup-01", "a/run-01", "b/run-01", "c/run-01", "a/run-02", "b/run-02", "b/run-03"]
    records = workplace.sessions()[-1].records()
    assert [record.counts for record in records] == [False, True, True, True, True, True, True]
    assert (workplace.sessions()[-1].path / "b/run-03/stdouterr.log").is_file()


FLAKY = SCRIPT + "\nsys.exit(0 if len(open('order.log').readlines()) >= 3 else 4)\n"


def test_each_attempt_is_recorded_and_the_last_counts(workplace: Workplace) -> None:
    with_script(workplace, f"entries: [{{name: a, script: s.py, args: '{TO_RESULTS}', retries: 5}}]", FLAKY)
    assert workplace.assay("run", "--config", "session.yaml").code == 0
    records = workplace.sessions()[-1].records()
    assert [(record.attempt, record.outcome, record.counts) for record in records] == [
        (1, Outcome.FAILED, False),
        (2, Outcome.FAILED, False),
        (3, Outcome.PASSED, True),
    ]


def test_a_matrix_expands_to_entries(workplace: Workplace) -> None:
    config = f"""
entries:
  - name: m
    script: s.py
    matrix: {{executor: [x, y], size: [1, 2], exclude: [{{executor: y, size: 2}}]}}
    args: --executor {{executor}} --size={{size}} {TO_RESULTS}
    repeat: "{{size}}"
"""
    with_script(workplace, config)
    answer = workplace.assay("run", "--config", "session.yaml", "--list")
    assert answer.out.split() == ["m-x-1", "m-x-2", "m-y-1"]
    assert workplace.assay("run", "--config", "session.yaml").code == 0
    argv = workplace.records()["m-x-2"].script_params["argv"]
    assert argv[:3] == ["--executor", "x", "--size=2"]


def test_environment_limits_and_data_setups(workplace: Workplace) -> None:
    config = f"""
entries:
  - {{name: a, script: s.py, args: '{TO_RESULTS}', env: {{COLOUR: "{{scratch_dir}}"}}, limits: {{cpus: 1}}}}
data_setups:
  - {{name: prepare, script: s.py, args: '{TO_RESULTS}'}}
"""
    with_script(workplace, config)
    assert workplace.assay("run", "--config", "session.yaml").code == 0
    records = workplace.records()
    assert list(records) == ["prepare", "a"]
    assert records["a"].script_params["env"].endswith("/a/scratch")
    assert records["a"].script_metrics["cpus"] == 1


def test_a_memory_limit_is_a_failure_with_its_reason(workplace: Workplace) -> None:
    workplace.write("scripts/eat.py", "import time\nx = b'x' * (300 << 20)\ntime.sleep(60)\n")
    workplace.write("session.yaml", "entries: [{name: eat, script: eat.py, limits: {memory: 150MB}, grace_s: 0.2}]")
    assert workplace.assay("run", "--config", "session.yaml").code == 1
    assert workplace.records()["eat"].reasons == ("used more memory than its limit of 150 MB",)


def test_usage_can_be_required(workplace: Workplace) -> None:
    config = f"""
entries:
  - name: a
    script: s.py
    args: '{TO_RESULTS}'
    requirements: [{{metric: usage.peak_rss_mb, max_value: 1}}, {{metric: exec_time_s, min_value: 0}}]
"""
    with_script(workplace, config)
    assert workplace.assay("run", "--config", "session.yaml").code == 1
    record = workplace.records()["a"]
    assert record.outcome is Outcome.MISSED
    assert record.reasons[0].startswith("usage.peak_rss_mb is ")
    assert [result.ok for result in record.requirements] == [False, True]


GROWING = SCRIPT.replace('"cpus": len(os.sched_getaffinity(0))', '"rows_per_s": float(open("speed").read())')


def test_a_session_is_held_against_the_recent_level(workplace: Workplace) -> None:
    config = f"""
entries:
  - name: a
    script: s.py
    args: '{TO_RESULTS}'
    repeat: 4
    requirements: [{{metric: rows_per_s, max_regression: 30%}}]
"""
    with_script(workplace, config, GROWING)
    outcomes = []
    for speed in (100, 95, 40, 94):  # the session with 40 missed its gate, so it is no part of the level
        workplace.write("speed", str(speed))
        outcomes.append(workplace.assay("run", "--config", "session.yaml").code)
    assert outcomes == [0, 0, 1, 0]
    missed = workplace.sessions()[2]
    assert all(record.success for record in missed.records()), "no single run is judged"
    shown = workplace.assay("show", missed.path.name).out
    assert "✗ 1 missed" in shown
    assert "rows_per_s 40 is 59% below the baseline of 97.5 (limit 30%" in shown
    assert "1 entry missed a requirement" in missed.report.read_text()


def test_nothing_to_compare_with_is_no_pass(workplace: Workplace) -> None:
    config = f"""
entries:
  - name: a
    script: s.py
    args: '{TO_RESULTS}'
    repeat: 4
    requirements: [{{metric: rows_per_s, max_regression: 30%}}]
"""
    with_script(workplace, config, GROWING)
    workplace.write("speed", "100")
    first = workplace.assay("run", "--config", "session.yaml")
    assert first.code == 0
    assert "○ 1 no baseline" in first.out
    assert "passed" not in first.out
    assert "warning: not a pass: a rows_per_s: no earlier session is comparable" in first.err
    assert 'class="answer neutral"' in workplace.sessions()[0].report.read_text()
    elsewhere = ("--results-dir", str(workplace.folder / "elsewhere"))
    assert workplace.assay("run", "--config", "session.yaml", "--strict", *elsewhere).code == 4
    assert workplace.assay("run", "--config", "session.yaml", "--strict").code == 0


def test_scratch_is_deleted_unless_told_and_large_things_go_to_artifacts_dir(workplace: Workplace) -> None:
    script = SCRIPT + "\n(pathlib.Path(os.environ['ASSAY_SCRATCH_DIR']) / 'big').write_text('x')\n"
    config = f"""
artifacts_dir: elsewhere
entries:
  - {{name: kept, script: s.py, args: '{TO_RESULTS}', delete_scratch: false}}
  - {{name: gone, script: s.py, args: '{TO_RESULTS}'}}
"""
    with_script(workplace, config, script)
    assert workplace.assay("run", "--config", "session.yaml").code == 0
    session = workplace.sessions()[-1].path
    assert (session / "kept/scratch/big").read_text() == "x"
    assert (workplace.folder / "elsewhere" / session.name / "kept/scratch/big").is_file()
    assert not (session / "gone/scratch").exists()
    assert not (workplace.folder / "elsewhere" / session.name / "gone").exists()


@pytest.mark.parametrize("profiler", ["py-spy", "cprofile", "memray"])
def test_a_profile_is_linked_from_the_record(workplace: Workplace, profiler: str) -> None:
    busy = SCRIPT + "\nimport time\nwhile time.process_time() < 0.4: sum(range(1000))\n"
    with_script(workplace, f"entries: [{{name: a, script: s.py, args: '{TO_RESULTS}', profiler: {profiler}}}]", busy)
    answer = workplace.assay("run", "--config", "session.yaml")
    assert answer.code == 0, answer.out
    record = workplace.records()["a"]
    profile = workplace.sessions()[-1].path / record.files["profile"]
    assert profile.stat().st_size > 100


def test_entries_are_chosen_by_expression_with_what_they_need(workplace: Workplace) -> None:
    config = "entries:\n" + "".join(f"  - {{name: {n}, script: s.py}}\n" for n in ("alm_fast", "alm_slow", "text"))
    with_script(workplace, config + "  - {name: last, script: s.py, needs: [text]}\n")
    listing = lambda expression: workplace.assay(  # noqa: E731
        "run", "--config", "session.yaml", "--list", "--entries", expression
    )
    assert listing("alm and not slow").out.split() == ["alm_fast"]
    assert listing("last or alm_*").out.split() == ["alm_fast", "alm_slow", "text", "last"]
    assert listing("nothing").code == 2
    assert "a bracket is not closed" in listing("(alm").err


def test_values_are_overridden_from_the_command_line(workplace: Workplace) -> None:
    with_script(workplace, "entries: [{name: a, script: s.py}, {name: b, script: s.py}]")
    answer = workplace.assay(
        "plan", "--config", "session.yaml", "--set", "entries.b.timeout_s=7", "--set", "default_timeout_s=9"
    )
    assert "at most 9 s" in answer.out
    assert "at most 7 s" in answer.out


def test_plan_says_what_would_fail_and_runs_nothing(workplace: Workplace) -> None:
    config = """
datasets: [{name: cc, formats: [{type: json, path: /no/such/folder}]}]
entries:
  - {name: a, script: s.py, args: "--input {dataset:cc,json}"}
  - {name: b, script: alm_pipeline_benchmrk.py}
"""
    with_script(workplace, config)
    answer = workplace.assay("plan", "--config", "session.yaml")
    assert answer.code == 1
    assert "✗ data set cc,json does not exist: /no/such/folder" in answer.out
    assert "✗ unknown script 'alm_pipeline_benchmrk.py'; did you mean 'alm_pipeline_benchmark.py'?" in answer.out
    assert not (workplace.folder / "results").exists()


def test_a_command_needs_no_yaml(workplace: Workplace) -> None:
    answer = workplace.assay("run", "--runs", "3", "--warmup", "1", "--", sys.executable, "-c", "print('{x}', {1})")
    assert answer.code == 0, answer.err
    records = workplace.sessions()[-1].records()
    assert [record.warmup for record in records] == [True, False, False, False]
    log = workplace.sessions()[-1].path / records[0].name / "run-01/logs/stdout.log"
    assert log.read_text() == "{x} {1}\n"
    assert workplace.assay("run", "--runs", "1", "--", "false").code == 1


def test_one_entry_can_be_run_again(workplace: Workplace) -> None:
    with_script(workplace, f"entries: [{{name: a, script: s.py, args: '{TO_RESULTS}'}}, {{name: b, script: s.py}}]")
    workplace.assay("run", "--config", "session.yaml")
    answer = workplace.assay("rerun", "latest/a")
    assert answer.code == 0, answer.err
    assert [record.name for record in workplace.sessions()[-1].records()] == ["a"]
    assert workplace.assay("rerun", "latest~1/zzz").code == 2


def test_old_sessions_are_pruned_and_the_history_stays(workplace: Workplace) -> None:
    for _ in range(3):
        workplace.assay("run", "--runs", "1", "--", "true")
    assert workplace.assay("prune").code == 2
    assert workplace.assay("prune", "--keep", "1", "--dry-run").out.count("would delete") == 2
    workplace.assay("prune", "--keep", "1")
    assert len(workplace.sessions()) == 1
    assert (workplace.folder / "results/history.sqlite").is_file()
    workplace.assay("prune", "--older-than", "1d")
    assert len(workplace.sessions()) == 1


def test_what_a_session_ran_on_is_captured_once(workplace: Workplace) -> None:
    workplace.assay("run", "--runs", "1", "--reason", "because", "--", "true")
    session = workplace.sessions()[-1]
    captured = json.loads((session.path / "env.json").read_text())
    assert captured["cores"] >= 1
    assert captured["memory_mb"] > 100
    assert captured["python"] == ".".join(map(str, sys.version_info[:3]))
    assert captured["reason"] == "because"
    assert captured["cpu_model"]
    assert session.info().reason == "because"
