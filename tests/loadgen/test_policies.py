"""Policies on real pipelines: what they are told, what they can do, and what happens when they go wrong."""

from __future__ import annotations

import csv
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from load_policies import Watch

from assay.cli.main import main
from assay.errors import ConfigError
from assay.loadgen.colocation import pipeline_limits, policy_run
from assay.loadgen.colocation.colocation import Colocation, GroupOutcome
from assay.loadgen.colocation.colocation_config import ColocationConfig
from assay.loadgen.colocation.policy_run import policy_text
from assay.loadgen.colocation.read_config import read_config
from assay.loadgen.colocation.result_files import save_group

HERE = Path(__file__).parent


def pipeline(name: str, loadgen: dict[str, Any] | None = None, seconds: float = 0.002, **more: Any) -> dict[str, Any]:
    load = {"component": "single_stream", "duration": 0.6, **(loadgen or {})}
    stages = [{"id": 0, "component": "sleep", "config": {"seconds": seconds}}]
    return {"name": name, "loadgen": load, "stages": stages, **more}


def file(policy: dict[str, Any] | None, *pipelines: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"pipelines": pipelines or (pipeline("a"), pipeline("b")), "policy": policy, **more}


def run(
    tmp_path: Path, component: str, config: dict[str, Any], *pipelines: dict[str, Any], **more: Any
) -> GroupOutcome:
    policy = {"component": f"load_policies.{component}", "config": config, **more.pop("of_policy", {})}
    read = ColocationConfig.model_validate(file(policy, *pipelines, **more))
    return Colocation(read, tmp_path).run(read.pipelines, "together")


def groups() -> list[Path]:
    return [path for path in Path("/sys/fs/cgroup").glob(f"**/assay-{os.getpid()}-*") if path.is_dir()]


@pytest.fixture(autouse=True)
def _nothing_left() -> Any:
    yield
    assert groups() == []


def test_it_is_told_how_each_pipeline_fares(tmp_path: Path) -> None:
    objective = {"percentile": 0.9, "seconds": 0.0001}
    open_loop = {"component": "constant", "config": {"rate": 100}, "duration": 1.2}
    outcome = run(tmp_path, "Watch", {}, pipeline("a", open_loop, objectives=[objective]), pipeline("b"))
    assert outcome.success
    a = [states["a"] for _, states in Watch.seen]
    b = [states["b"] for _, states in Watch.seen]
    assert [now for now, _ in Watch.seen] == sorted(now for now, _ in Watch.seen)
    assert len(a) > 10
    assert {state.condition for state in a} <= {"waiting", "running", "ended"}
    assert b[-1].condition == "ended"
    last = a[-1]
    assert last.completed > 80
    assert (last.asked_rate, b[-1].asked_rate) == (100, None)
    assert last.seconds > 1
    assert 0 < last.p50_s <= last.p99_s
    assert 0 < last.throughput <= 200
    [kept] = last.objectives
    # Every answer takes 2 ms and is allowed a tenth of one.
    assert kept.missed == kept.judged > 80
    assert kept.recent_s > 0.002
    assert len(kept.newest_s) == len(kept.newest_t) == 32
    assert list(kept.newest_t) == sorted(kept.newest_t)
    assert last.cpu_s > 0
    assert last.rss_mb > 5
    assert b[-1].objectives == ()


@pytest.mark.parametrize("how", ["freezer", "signals"])
def test_a_paused_pipeline_stands_still_and_its_queries_wait(
    tmp_path: Path, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if how == "signals":
        monkeypatch.setattr(pipeline_limits, "_freezer_roots", list)
    open_loop = {"component": "constant", "config": {"rate": 200}, "duration": 1.0, "sender": "process"}
    between = {"name": "b", "begin": 0.3, "end": 0.8}
    outcome = run(tmp_path, "PauseBetween", between, pipeline("a", open_loop), pipeline("b", open_loop, 0.001))
    assert outcome.success, [one.result.ending for one in outcome.pipelines]
    pause, resume = outcome.decisions
    assert [(d.pipeline, d.action, d.reason, d.refused) for d in outcome.decisions] == [
        ("b", "pause", "its time to rest", ""),
        ("b", "resume", "it has rested", ""),
    ]
    stood = resume.t - pause.t
    assert outcome["b"].paused_s == pytest.approx(stood, abs=0.2)
    assert outcome["a"].paused_s == 0
    ends = (outcome["b"].result.measured.queries["end"] - outcome.released_at) / 1e9
    # What was under way when the signal came may still end; then there is nothing until it goes on.
    assert not ((ends > pause.t + 0.3) & (ends < resume.t)).any()
    assert (ends < pause.t).any()
    assert (ends > resume.t).any()
    queries = outcome["b"].result.measured.queries
    assert len(queries) == 200
    slowest = (queries["end"] - queries["intended"]).max() / 1e9
    # A query that was to be sent as the pause began waited for all of it.
    assert slowest > 0.9 * stood - 0.05
    assert "b stood still for" in policy_text(outcome)


def test_a_pause_counts_for_no_limit(tmp_path: Path) -> None:
    """0.4 s of work, 1.6 s of pause inside a stage: limits of 1.5 s, and of 1 s without an event, are kept."""
    work = {"component": "single_stream", "max_queries": 4, "duration": None, "timeout": 1.5}
    between = {"name": "b", "begin": 0.15, "end": 1.75}
    outcome = run(tmp_path, "PauseBetween", between, pipeline("a"), pipeline("b", work, seconds=0.1), stall_timeout=1.0)
    assert outcome["b"].result.ending.success, outcome["b"].result.ending
    assert outcome["b"].result.completed == 4
    assert outcome["b"].result.duration > 1.5


def test_a_time_limit_still_holds_after_a_pause(tmp_path: Path) -> None:
    work = {"component": "single_stream", "max_queries": 1_000_000, "duration": None, "timeout": 0.6}
    between = {"name": "b", "begin": 0.1, "end": 0.9}
    outcome = run(tmp_path, "PauseBetween", between, pipeline("a"), pipeline("b", work))
    ended = outcome["b"].result
    assert ended.ending.reason.startswith("the time limit of 0.6 s was reached")
    assert ended.duration > 1.2


RAISED = f"raised ZeroDivisionError: three by nothing ({HERE / 'load_policies.py'}:"
HUNG = "has not returned after 0.3 s"


@pytest.mark.parametrize(
    ("how", "early", "words"),
    [
        ("raise", False, RAISED),
        ("raise", True, RAISED),
        ("hang", False, HUNG),
        ("hang", True, HUNG),
        ("name", False, "raised ValueError: unknown pipeline 'c' (known: a, b)"),
        ("share", False, "raised ValueError: cpu_weight: Input should be greater than or equal to 1, not 0"),
    ],
)
def test_one_that_goes_wrong_ends_the_run_and_what_was_measured_is_kept(
    tmp_path: Path, how: str, early: bool, words: str
) -> None:
    long = {"component": "single_stream", "duration": 30}
    pipelines = pipeline("a", long), pipeline("b", long)
    outcome = run(tmp_path, "Bad", {"how": how, "early": early}, *pipelines, of_policy={"timeout": 0.3})
    call = "begin" if early else "look at 0."
    assert outcome.problem.startswith(f"policy load_policies.Bad: {call}")
    assert words in outcome.problem
    assert not outcome.success
    assert "; the run was ended, and what was measured until then is kept" in policy_text(outcome)
    for one in outcome.pipelines:
        assert one.result.duration < 25
        if early:
            assert one.result.ending.reason == "ended before the start: the policy failed"
        else:
            assert one.result.ending.success
            assert one.result.completed > 0
    if not early:
        # It was paused when the policy failed: it goes on, so as to end.
        assert [d.action for d in outcome.decisions] == ["pause", "resume"]
        assert outcome.decisions[-1].reason == "assay: the run ends"


def test_pipelines_are_delayed_and_started(tmp_path: Path) -> None:
    outcome = run(tmp_path, "Late", {}, pipeline("a"), pipeline("b"), pipeline("c"))
    assert outcome.success, [one.result.ending for one in outcome.pipelines]
    a, b, c = (outcome[name].result for name in "abc")
    assert a.started_at == outcome.released_at
    assert c.started_at >= a.started_at + 250_000_000
    assert b.started_at >= int(a.measured.queries["end"][9])
    assert [(d.pipeline, d.action, d.value) for d in outcome.decisions] == [
        ("b", "delay", "until it is started"),
        ("c", "delay", "0.25 s"),
        ("b", "start", ""),
    ]
    assert outcome.window[0] == max(b.started_at, c.started_at)


def test_a_policy_that_lets_nothing_run_does_not_keep_the_run_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(policy_run, "PATIENCE_S", 0.2)
    outcome = run(tmp_path, "PauseForEver", {}, pipeline("a"), pipeline("b"))
    assert outcome.success
    assert [(d.action, d.pipeline) for d in outcome.decisions if not d.refused] == [
        ("pause", "a"),
        ("pause", "b"),
        ("resume", "a"),
        ("resume", "b"),
    ]
    assert {d.reason for d in outcome.decisions if d.action == "resume"} == {"assay: nothing has run for 0.2 s"}
    refused = {d.refused for d in outcome.decisions if d.refused}
    assert refused == {"nothing has run for 0.2 s; from then on nothing is held back"}


def test_a_pipeline_is_moved_to_other_processors_while_it_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "where_stage.py").write_text(
        "import os\nfrom pathlib import Path\nfrom assay.pipeline.stage import Stage\n"
        "class Where(Stage):\n"
        "    def __init__(self, path): self.path = path\n"
        "    def process(self, data):\n"
        "        Path(self.path).write_text(repr(sorted(os.sched_getaffinity(0))))\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    core = max(os.sched_getaffinity(0))
    moved = pipeline("b")
    moved["stages"] = [{"id": 0, "component": "where_stage.Where", "config": {"path": str(tmp_path / "where")}}]
    outcome = run(tmp_path, "Ask", {"asked": [("place", {"cpus": [core]})]}, pipeline("a"), moved)
    assert outcome.success
    assert (tmp_path / "where").read_text() == f"[{core}]"
    # Said at every look, decided once.
    assert [(d.action, d.value, d.refused) for d in outcome.decisions] == [("place", f"cpus {core}", "")]


@pytest.mark.parametrize("early", [False, True], ids=["while it runs", "before the start"])
def test_a_pipeline_gets_less_of_the_processor(tmp_path: Path, early: bool) -> None:
    busy = pipeline("b", {"duration": 1.5})
    busy["stages"][0] |= {"component": "busy_cpu", "config": {"iterations": 2000}}
    asked = [("resize", {"cpus": 0.2, "cpu_weight": 50, "memory_mb": 1000})]
    outcome = run(tmp_path, "Ask", {"asked": asked, "early": early}, pipeline("a"), busy)
    assert [d.refused for d in outcome.decisions] == [""]
    assert outcome.decisions[0].value == "cpus 0.2, cpu_weight 50, memory_mb 1000"
    # Of one and a half seconds, a fifth; the kernel grants slices of 100 ms, and moving it takes a moment.
    assert outcome["b"].result.cpu_s < 0.2 * 1.5 + 0.35


def test_a_paused_pipeline_stays_so_while_it_is_resized(tmp_path: Path) -> None:
    asked = [("pause", {}), ("resize", {"cpu_weight": 50})]
    outcome = run(tmp_path, "Ask", {"asked": asked}, pipeline("a"), pipeline("b", until="others_end"))
    assert [(d.action, d.refused) for d in outcome.decisions] == [("pause", ""), ("resize", ""), ("resume", "")]
    pause, _, resume = outcome.decisions
    ends = (outcome["b"].result.measured.queries["end"] - outcome.released_at) / 1e9
    assert not ((ends > pause.t + 0.3) & (ends < resume.t)).any()
    assert resume.t > 0.55


RUNNING = [
    (("place", {"cpus": [9999]}), "place b cpus 9999: this process may not use processor 9999; it may use "),
    (("place", {"device": "cpu"}), "place b device cpu: a device can be given only before the pipelines are started"),
    (("delay", {"seconds": 1}), "delay b 1 s: it has started already; it can be paused"),
    (("resize", {"cpu_weight": 50}), "resize b cpu_weight 50: this machine has no cpu and memory control groups"),
]
EARLY = [
    (("pause", {}), "pause b: it has not started yet; it can be delayed"),
    (("place", {"device": "tpu"}), "place b device tpu: 'tpu' is not a device"),
    (("resize", {"cpus": 1}), "resize b cpus 1: this machine has no cpu and memory control groups"),
]


@pytest.mark.parametrize(("asked", "early"), [(RUNNING, False), (EARLY, True)], ids=["while it runs", "before"])
def test_what_cannot_be_done_is_refused_and_said_once(
    tmp_path: Path, asked: list[tuple[Any, str]], early: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline_limits, "_limit_roots", list)
    config = {"asked": [request for request, _ in asked], "early": early}
    outcome = run(tmp_path, "Ask", config, pipeline("a"), pipeline("b"))
    assert outcome.success
    assert all(decision.refused for decision in outcome.decisions)
    shown, *refused = policy_text(outcome).splitlines()
    assert shown == "policy load_policies.Ask: nothing was changed"
    # Asked at every look; said once each.
    assert len(refused) == len(asked)
    for line, (_, words) in zip(refused, asked, strict=True):
        assert line.startswith("  refused at ")
        assert f" s: {words}" in line


def test_alone_in_a_matrix_a_pipeline_has_no_policy_over_it(tmp_path: Path) -> None:
    read = ColocationConfig.model_validate(file({"component": "load_policies.PauseForEver"}))
    alone = Colocation(read, tmp_path).run([read.pipelines[0]], "alone")
    assert (alone.policy, alone.decisions, policy_text(alone)) == (None, (), "")
    one = ColocationConfig.model_validate(file({"component": "all_at_once"}, pipeline("a", {"duration": 0.1})))
    only = Colocation(one, tmp_path).run(one.pipelines, "only")
    assert policy_text(only) == "policy all_at_once: nothing was changed"


def test_decisions_are_in_the_events_and_on_the_time_line(tmp_path: Path) -> None:
    outcome = run(tmp_path, "PauseBetween", {"name": "b", "begin": 0.1, "end": 0.3})
    save_group(outcome, "csv", trace=True)
    with (tmp_path / "together" / "b" / "events.csv").open() as events:
        decided = [row for row in csv.DictReader(events) if row["event"] == "decision"]
    assert [(row["stage_name"], row["status"]) for row in decided] == [("pause", "ok"), ("resume", "ok")]
    times = [(int(row["start"]) - outcome.released_at) / 1e9 for row in decided]
    assert times == pytest.approx([d.t for d in outcome.decisions])
    assert '"decision"' not in (tmp_path / "together" / "a" / "events.csv").read_text()
    trace = json.loads((tmp_path / "together" / "trace.json").read_text())["traceEvents"]
    marks = [event for event in trace if event["ph"] == "i"]
    assert [(mark["name"], mark["args"]["reason"]) for mark in marks] == [
        ("pause", "its time to rest"),
        ("resume", "it has rested"),
    ]
    [span] = [event for event in trace if event["name"] == "paused"]
    assert span["dur"] / 1e6 == pytest.approx(outcome.decisions[1].t - outcome.decisions[0].t)
    [thread] = [e for e in trace if e["name"] == "thread_name" and e["args"]["name"] == "policy"]
    assert (thread["pid"], thread["tid"]) == (span["pid"], span["tid"])
    # In the row of the pipeline's own stages: the queries before the pause ended before it.
    stages = [e["ts"] + e["dur"] for e in trace if e["ph"] == "X" and e["pid"] == span["pid"] and e["name"] == "sleep"]
    assert any(end <= span["ts"] for end in stages)


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        (
            {"component": "latncy_first"},
            "policy.component: unknown policy 'latncy_first'; did you mean 'latency_first'?",
        ),
        ({"component": "latency_first", "config": {"paus_at": 1}}, "policy.config.paus_at: LatencyFirst: unknown key"),
        (
            {"component": "latency_first", "config": {"resume_at": 0.9}},
            "policy.config: LatencyFirst: resume_at must be above 0 and below pause_at (0.5), not 0.9",
        ),
        (
            {"component": "latency_first", "config": {"pause": ["c"]}},
            "policy.config: unknown pipeline 'c' (known: a, b)",
        ),
        (
            {"component": "load_policies.NoLook"},
            "policy.config: NoLook does not define look, which Policy of Assay asks for",
        ),
        (
            {"component": "load_policies.Restless"},
            "policy.config: Restless: every_s must be seconds, greater than 0, not 0",
        ),
        (
            {"component": "pathlib.Path"},
            "policy.component: 'pathlib.Path' is no policy: it does not inherit from Policy",
        ),
    ],
)
def test_a_wrong_configuration_says_where(tmp_path: Path, policy: dict[str, Any], message: str) -> None:
    path = tmp_path / "config.yml"
    path.write_text(json.dumps(file(policy)))
    with pytest.raises(ConfigError) as caught:
        read_config(path)
    assert message in str(caught.value)


def test_the_command_line_names_a_policy_and_shows_what_it_did(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "config.yml"
    between = {"component": "load_policies.PauseBetween", "config": {"name": "b", "begin": 0.1, "end": 0.2}}
    path.write_text(json.dumps(file(between)))
    words = ["colocate", str(path), "--quiet", "--events", "none", "--results"]
    assert main([*words, str(tmp_path / "as-the-file-says")]) == 0
    shown = capsys.readouterr().out
    assert "policy load_policies.PauseBetween: 1 × pause, 1 × resume\n  b stood still for" in shown
    assert main([*words, str(tmp_path / "other"), "--policy", "all_at_once"]) == 0
    assert "policy all_at_once: nothing was changed" in capsys.readouterr().out
    [kept] = json.loads((tmp_path / "as-the-file-says" / "colocation.json").read_text())["runs"]
    assert [(d["pipeline"], d["action"], d["reason"]) for d in kept["decisions"]] == [
        ("b", "pause", "its time to rest"),
        ("b", "resume", "it has rested"),
    ]
    assert main([*words, str(tmp_path / "none"), "--policy", "nobody"]) == 2
    assert "unknown policy 'nobody' (known: all_at_once, latency_first)" in capsys.readouterr().err


def test_a_policy_that_failed_is_said_and_the_run_is_not_good(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "config.yml"
    path.write_text(json.dumps(file({"component": "load_policies.Bad", "config": {"how": "raise"}})))
    assert main(["colocate", str(path), "--quiet", "--events", "none", "--results", str(tmp_path / "out")]) == 1
    assert "raised ZeroDivisionError: three by nothing" in capsys.readouterr().out
    [kept] = json.loads((tmp_path / "out" / "colocation.json").read_text())["runs"]
    assert any("three by nothing" in warning for warning in kept["warnings"])


def test_nothing_stands_still_for_ever_when_assay_is_killed(tmp_path: Path) -> None:
    long = {"component": "single_stream", "duration": 60}
    path = tmp_path / "config.yml"
    policy = {"component": "load_policies.PauseForEver"}
    path.write_text(json.dumps(file(policy, pipeline("a", long), pipeline("b", long))))
    running = subprocess.Popen(
        [sys.executable, "-m", "assay", "colocate", str(path), "--results", str(tmp_path / "out")],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stderr=subprocess.PIPE,
        text=True,
    )
    assert running.stderr is not None
    # The first word of progress: it is under way, and both were paused at the first look.
    assert "a: " in running.stderr.readline()
    workers = [pid for pid in _below(running.pid) if "assay.loadgen.colocation.pipeline_worker" in _command(pid)]
    assert len(workers) == 2
    running.send_signal(signal.SIGKILL)
    running.communicate(timeout=60)
    deadline = time.monotonic() + 30
    while any(_command(pid) for pid in workers) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not any(_command(pid) for pid in workers)
    for folder in Path("/sys/fs/cgroup").glob(f"**/assay-{running.pid}-*"):
        if folder.is_dir():
            folder.rmdir()


def _below(pid: int) -> list[int]:
    found = [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return found + [below for child in found for below in _below(child)]


def _command(pid: int) -> str:
    """Empty where it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


def test_the_policy_of_the_documentation_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (HERE.parents[1] / "docs" / "colocation.md").read_text()
    [code] = [block for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "(Policy)" in block]
    (tmp_path / "less_for_batch.py").write_text(code)
    monkeypatch.syspath_prepend(str(tmp_path))
    policy = {"component": "less_for_batch.LessForBatch", "config": {"batch": ["b"], "slow_s": 0.001}}
    slow = pipeline("a", objectives=[{"percentile": 0.9, "seconds": 1}])
    read = ColocationConfig.model_validate(file(policy, slow, pipeline("b")))
    outcome = Colocation(read, tmp_path).run(read.pipelines, "together")
    assert outcome.success
    # The first look is before any answer; those after it see 2 ms where 1 is slow.
    decided = [(d.pipeline, d.action, d.value, d.reason) for d in outcome.decisions]
    assert ("b", "resize", "cpu_weight 10", "slow: a") in decided


@pytest.mark.slow
@pytest.mark.serial
def test_latency_first_keeps_an_objective_that_batch_jobs_break(tmp_path: Path) -> None:
    """All run on one core: the service needs half of it, and beside three batch jobs gets a quarter."""
    one_core: dict[str, Any] = {"cpus": [min(os.sched_getaffinity(0))]}
    if not pipeline_limits.limits_problem():
        # All alike, and before whatever else this machine does.
        one_core["limits"] = {"cpu_weight": 10_000}
    work = {"id": 0, "component": "busy_cpu", "config": {"seconds": 0.005}}
    service = {"component": "constant", "config": {"rate": 100}, "duration": 4}
    objective = {"percentile": 0.99, "seconds": 0.5}
    batches = ["batch-1", "batch-2", "batch-3"]
    pipelines = [
        pipeline("service", service, stages=[work], objectives=[objective], **one_core),
        *(pipeline(name, {"duration": None}, stages=[work], until="others_end", **one_core) for name in batches),
    ]
    outcomes = {}
    for policy in ("all_at_once", "latency_first"):
        read = ColocationConfig.model_validate(file({"component": policy}, *pipelines))
        outcomes[policy] = Colocation(read, tmp_path / policy).run(read.pipelines, "together")
        assert outcomes[policy].success
    without, kept = (outcomes[policy]["service"].result for policy in outcomes)
    assert without.latency["p99"] > 0.5e9
    assert kept.latency["p99"] <= 0.5e9, policy_text(outcomes["latency_first"])
    # The batch jobs pay, and go on all the same.
    before, after = (sum(outcomes[policy][name].result.throughput for name in batches) for policy in outcomes)
    assert 0.05 < after / before < 1
    assert all(outcomes["latency_first"][name].paused_s > 0 for name in batches)
