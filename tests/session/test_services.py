"""`service:` of an entry: a server that is started before a run, watched, and ended after it."""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import time
from pathlib import Path
from threading import Thread

import pytest
from workplace import Workplace

from assay.process.leftovers import find_started_for
from assay.record import Outcome

SERVER = Path(__file__).parent.parent / "support" / "small_server.py"
CLIENT = """
import argparse, json, os, pathlib, time, urllib.request
parser = argparse.ArgumentParser()
parser.add_argument("--benchmark-results-path")
parser.add_argument("--url")
parser.add_argument("--seconds", type=float, default=0.0)
args = parser.parse_args()
def get(path): return urllib.request.urlopen(args.url + path, timeout=5).read().decode()
out = pathlib.Path(args.benchmark_results_path)
variables = {name: os.environ[name] for name in sorted(os.environ) if name.startswith("ASSAY_SERVICE")}
(out / "params.json").write_text(json.dumps({"flag": get("/flag"), **variables}))
pid, asked = int(get("/pid")), 0
until = time.monotonic() + args.seconds
try:
    while True:
        get("/"); asked += 1
        if time.monotonic() >= until: break
        time.sleep(0.02)
except OSError as error:
    print("the server is gone:", error)
(out / "metrics.json").write_text(json.dumps({"asked": asked, "pid": pid}))
"""


def session(place: Workplace, service: str, entry: str = "", more: str = "", seconds: float = 0.0) -> None:
    place.write("client.py", CLIENT)
    place.write(
        "session.yaml",
        f"""
entries:
  - name: a
    script: client.py
    args: --url {{service_url}} --seconds {seconds}
    {entry}
    service:
      command: ["{sys.executable}", "{SERVER}", --port, "{{port}}", {service}]
      {more}
""",
    )


def processes_of(place: Workplace) -> set[int]:
    """All that a session has started and that still runs, its supervisors among them."""
    return {pid for path in place.sessions() for pid in find_started_for("ASSAY_SESSION", os.path.realpath(path.path))}


def test_a_service_is_there_for_the_run_and_gone_after_it(workplace: Workplace) -> None:
    session(workplace, "--child, --flag, x", more="ready: /health", seconds=0.4)
    answer = workplace.assay("run", "--config", "session.yaml")
    assert answer.code == 0, answer.out + answer.err
    record = workplace.records()["a"]
    assert record.script_params["flag"] == "x"
    port = record.script_params["ASSAY_SERVICE_PORT"]
    assert record.script_params["ASSAY_SERVICE_URL"] == f"http://127.0.0.1:{port}"
    metrics = record.metrics
    assert metrics["service_ready_s"].value > 0
    assert metrics["service_cpu_s"].value >= 0
    assert metrics["service_peak_rss_mb"].value > 5
    assert (metrics["service_cpu_s"].unit, metrics["service_cpu_s"].better) == ("s", "lower")
    folder = workplace.sessions()[-1].path
    assert "listening on" in (folder / record.files["service_log"]).read_text()
    assert (folder / record.files["service_usage"]).read_text().startswith("t_s,cpu_s")
    assert "listening on" not in (folder / "a/stdouterr.log").read_text()
    assert not processes_of(workplace)


def test_what_the_service_used_is_not_the_programs(workplace: Workplace) -> None:
    session(workplace, "--eat-mb, '150'", more="ready: {log: listening on \\d+}", seconds=0.5)
    assert workplace.assay("run", "--config", "session.yaml").code == 0
    record = workplace.records()["a"]
    assert record.metrics["service_peak_rss_mb"].value > 150
    assert record.usage.peak_rss_mb < 120


def test_each_run_has_a_service_of_its_own_unless_it_is_kept(workplace: Workplace) -> None:
    def pids() -> list[int]:
        folder = workplace.sessions()[-1].path
        return [json.loads(line)["script_metrics"]["pid"] for line in (folder / "a/results.jsonl").open()]

    session(workplace, "", entry="repeat: 2")
    assert workplace.assay("run", "--config", "session.yaml").code == 0
    assert len(set(pids())) == 2
    assert len({record.fingerprint for record in workplace.sessions()[-1].records()}) == 1
    session(workplace, "", entry="repeat: 3\n    warmup: 1", more="restart: never")
    with (workplace.folder / "session.yaml").open("a") as file:
        file.write("  - {name: b, command: 'true', repeat: 2}\n")
    assert workplace.assay("run", "--config", "session.yaml").code == 0
    assert len(pids()) == 4
    assert len(set(pids())) == 1
    order = [json.loads(line)["run_id"].split("/", 1)[1] for line in workplace.sessions()[-1].results.open()]
    assert order == ["a/warmup-01", "a/run-01", "a/run-02", "a/run-03", "b/run-01", "b/run-02"]
    assert not processes_of(workplace)


@pytest.mark.parametrize(
    ("service", "more", "words"),
    [
        ("--fail", "", ["the service ended with code 7 before it was ready", "cannot load the model: no such file"]),
        (
            "--never-ready",
            "ready_timeout_s: 1",
            ["the service was not ready after 1 s: port ", "took no connection", "service.log: still loading"],
        ),
        ("", "ready: /broken\n      ready_timeout_s: 1", ["not ready after 1 s", "/broken answered with status 503"]),
        (
            "",
            "ready: {log: 'will not be said'}\n      ready_timeout_s: 1",
            ["not ready after 1 s: no line of its output matched 'will not be said'"],
        ),
        ("", "ready: {command: 'false'}\n      ready_timeout_s: 1", ["its ready command exited with 1"]),
        ("", "cwd: /no/such/folder", ["the service was not started: its cwd /no/such/folder is no folder"]),
    ],
)
def test_a_service_that_cannot_be_used_fails_the_entry(
    workplace: Workplace, service: str, more: str, words: list[str]
) -> None:
    session(workplace, service, more=more)
    assert workplace.assay("run", "--config", "session.yaml").code == 1
    record = workplace.records()["a"]
    said = "\n".join(record.reasons)
    assert not record.success
    assert all(word in said for word in words), said
    assert not processes_of(workplace)


def test_a_program_that_does_not_exist_is_named(workplace: Workplace) -> None:
    workplace.write(
        "session.yaml",
        "entries: [{name: a, command: 'true', service: {command: 'no-such-server {port}'}}]",
    )
    assert workplace.assay("run", "--config", "session.yaml").code == 1
    (reason,) = workplace.records()["a"].reasons
    assert reason == "the service could not be started: cannot start no-such-server: No such file or directory"


def test_a_port_that_somebody_has_is_not_measured_in_place_of_the_service(workplace: Workplace) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        session(workplace, "", more=f"url: 'http://127.0.0.1:{port}'")
        assert workplace.assay("run", "--config", "session.yaml").code == 1
    assert f"something else takes connections at 127.0.0.1:{port}" in workplace.records()["a"].reasons[0]


def test_a_service_that_dies_fails_the_run_and_what_was_measured_is_kept(workplace: Workplace) -> None:
    session(workplace, "--die-after, '30'", more="metrics: /metrics", seconds=60)
    assert workplace.assay("run", "--config", "session.yaml").code == 1
    record = workplace.records()["a"]
    assert record.outcome is Outcome.FAILED
    assert "the service ended with code 3 while the program ran, " in record.reasons[0]
    assert record.reasons[-1] == "service.log: out of memory on the device"
    assert record.metrics["asked"].value > 3
    assert record.metrics["service_peak_rss_mb"].value > 0
    assert (workplace.sessions()[-1].path / record.files["service_metrics"]).is_file()


def test_a_program_that_does_not_notice_is_ended_after_its_grace(workplace: Workplace) -> None:
    session(workplace, "--die-after, '4'", entry="grace_s: 0.3", more="metrics: {interval_s: 0.1}")
    text = (workplace.folder / "session.yaml").read_text()
    text = text.replace("script: client.py", "command: sleep 60").replace("args: --url", "x-args: --url")
    workplace.write("session.yaml", text)
    assert workplace.assay("run", "--config", "session.yaml").code == 1
    record = workplace.records()["a"]
    assert "the service ended with code 3 while the program ran" in record.reasons[0]
    assert record.exec_time_s < 30


def test_a_service_above_its_memory_limit_is_ended(workplace: Workplace) -> None:
    session(workplace, "--eat-mb, '300'", more="limits: {memory: 100MB}", seconds=30)
    assert workplace.assay("run", "--config", "session.yaml").code == 1
    said = workplace.records()["a"].reasons[0]
    assert said.startswith(("the service used more memory than its limit of 100 MB", "the service was ended by"))


def test_one_that_ignores_sigterm_is_killed_and_said_to_be(workplace: Workplace) -> None:
    session(workplace, "--ignore-term", more="stop_timeout_s: 0.5")
    assert workplace.assay("run", "--config", "session.yaml").code == 0
    assert workplace.records()["a"].warnings == ("the service did not end within 0.5 s of SIGTERM: it was killed",)
    assert not processes_of(workplace)


def test_its_metrics_page_becomes_series_and_metrics(workplace: Workplace) -> None:
    more = "metrics: {path: /metrics, interval_s: 0.1, names: ['small:*']}"
    session(workplace, "", more=more, seconds=1.0)
    assert workplace.assay("run", "--config", "session.yaml").code == 0
    record = workplace.records()["a"]
    lines = (workplace.sessions()[-1].path / record.files["service_metrics"]).read_text().splitlines()
    readings = [json.loads(line) for line in lines]
    assert len(readings) >= 5
    totals = [reading["values"]["small:requests_total"] for reading in readings]
    assert record.metrics["service_small_requests_total_increase"].value == totals[-1] - totals[0] > 0
    waiting = [reading["values"]['small:num_requests_waiting{engine="0",model_name="a "b""}'] for reading in readings]
    assert record.metrics["service_small_num_requests_waiting_max"].value == max(waiting)
    assert record.metrics["service_small_num_requests_waiting_mean"].value == pytest.approx(sum(waiting) / len(waiting))
    assert "Service: small:requests_total" in (workplace.sessions()[-1].path / "report.html").read_text()
    assert not any("bucket" in name for name in readings[0]["values"])


def test_a_page_that_cannot_be_read_is_a_warning(workplace: Workplace) -> None:
    session(workplace, "", more="metrics: /broken")
    assert workplace.assay("run", "--config", "session.yaml").code == 0
    (warning,) = workplace.records()["a"].warnings
    assert warning.startswith("the metrics page of the service could not be read ")
    assert warning.endswith("it answered with status 503")


def test_a_matrix_may_vary_the_flags_of_the_service_for_all(workplace: Workplace) -> None:
    workplace.write("client.py", CLIENT)
    workplace.write(
        "session.yaml",
        f"""
service:
  command: "{sys.executable} {SERVER} --port {{port}} --flag {{size}}"
entries:
  - name: a
    script: client.py
    args: --url {{service_url}}
    matrix: {{size: [1, 2]}}
  - {{name: without, command: 'true', service: null}}
""",
    )
    assert workplace.assay("run", "--config", "session.yaml").code == 0
    records = workplace.records()
    assert [records[name].script_params["flag"] for name in ("a-1", "a-2")] == ["1", "2"]
    assert records["a-1"].fingerprint != records["a-2"].fingerprint
    assert "service_log" not in records["without"].files


def test_its_secrets_are_masked_in_its_log(workplace: Workplace) -> None:
    session(workplace, "--fail", more="env: {SERVER_TOKEN: '${MY_SECRET_TOKEN}'}")
    answer = workplace.assay("run", "--config", "session.yaml", MY_SECRET_TOKEN="hush-hush-value")
    folder = workplace.sessions()[-1].path
    log = (folder / workplace.records()["a"].files["service_log"]).read_text()
    assert "starting with token ***" in log
    everything = answer.out + answer.err + "".join(path.read_text() for path in folder.rglob("*.json*"))
    assert "hush-hush-value" not in log + everything


@pytest.mark.parametrize("ready", [True, False])
def test_an_interrupt_ends_program_and_service_and_resume_goes_on(workplace: Workplace, ready: bool) -> None:
    session(workplace, "--child" if ready else "--start-s, '60'", more="restart: never", seconds=60)
    running = workplace.start("run", "--config", "session.yaml")
    _wait_for_service(workplace)
    time.sleep(0.7)
    running.send_signal(signal.SIGINT)
    assert running.wait(60) == 130
    assert workplace.records()["a"].outcome is Outcome.INTERRUPTED
    assert not processes_of(workplace)
    session(workplace, "")
    assert workplace.assay("run", "--resume", "latest").code == 0
    assert workplace.records()["a"].success


def test_nothing_is_left_when_assay_is_killed(workplace: Workplace) -> None:
    session(workplace, "--child", seconds=60)
    running = workplace.start("run", "--config", "session.yaml")
    _wait_for_service(workplace)
    time.sleep(0.5)
    running.kill()
    running.wait(10)
    until = time.monotonic() + 30
    while processes_of(workplace) and time.monotonic() < until:
        time.sleep(0.1)
    assert not processes_of(workplace)


def test_a_retry_has_a_new_service(workplace: Workplace) -> None:
    session(workplace, "--die-after, '9'", entry="retries: 1\n    grace_s: 9", more="restart: never", seconds=60)
    assert workplace.assay("run", "--config", "session.yaml").code == 1
    lines = (workplace.sessions()[-1].path / "a/results.jsonl").read_text().splitlines()
    pids = [json.loads(line)["script_metrics"]["pid"] for line in lines]
    assert len(pids) == 2
    assert len(set(pids)) == 2


def test_jobs_of_one_session_have_ports_of_their_own(workplace: Workplace) -> None:
    session(workplace, "", seconds=0.5)
    text = (workplace.folder / "session.yaml").read_text()
    workplace.write("session.yaml", text + text.partition("entries:")[2].replace("name: a", "name: b"))
    answers: list[int] = []
    jobs = [
        Thread(
            target=lambda name=name: answers.append(
                workplace.assay(
                    "run", "--config", "session.yaml", "--join", "night", "--entries-exact", name, "--expect", "a,b"
                ).code
            )
        )
        for name in ("a", "b")
    ]
    for job in jobs:
        job.start()
    for job in jobs:
        job.join()
    assert answers == [0, 0]


def _wait_for_service(place: Workplace) -> None:
    until = time.monotonic() + 60
    while time.monotonic() < until:
        if any(path.path.glob("a/**/logs/service.log") for path in place.sessions()) and _has_log(place):
            return
        time.sleep(0.05)
    raise AssertionError("no service was started")


def _has_log(place: Workplace) -> bool:
    return any(log.stat().st_size for path in place.sessions() for log in path.path.glob("a/**/logs/service.log"))
