"""Secrets stand in nothing that Assay writes or shows, wherever they come from; what runs gets the real ones."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from urllib.parse import quote

import pytest
from workplace import Answer, Workplace

SECRETS = {
    "environment": "env-s3cr3t/value+1",
    "yaml": "yaml-s3cr3t-value",
    "set": "set-s3cr3t-value",
    "option": "option-s3cr3t-value",
    "equals": "equals-s3cr3t-value",
    "address": "address-s3cr3t",
    "query": "query-s3cr3t-value",
}
PROGRAM = """
import base64, json, os, pathlib, sys, urllib.parse
argv = sys.argv
out = pathlib.Path(argv[argv.index("--benchmark-results-path") + 1])
found = [os.environ["WORK_TOKEN"], os.environ["DB_PASSWORD"], os.environ["SERVICE_API_KEY"],
         argv[argv.index("--password") + 1], next(word for word in argv if word.startswith("--api-key=")).split("=")[1],
         next(word for word in argv if word.startswith("postgres:")).split(":")[2].split("@")[0],
         next(word for word in argv if "?a=1" in word).split("token=")[1]]
(out / "params.json").write_text(json.dumps({"p " + s: [s, {"deep": s}] for s in found}))
(out / "metrics.json").write_text(json.dumps({"m " + s: s for s in found}))
(out / "tasks.jsonl").write_text("\\n".join(json.dumps({"stage": "t " + s, "metrics": {"n " + s: 1}}) for s in found))
for s in found:
    sys.stdout.write(s[:5]); sys.stdout.flush(); sys.stdout.write(s[5:] + " is it\\n")
    print(urllib.parse.quote(s, safe=""), base64.b64encode(b"user:" + s.encode()).decode(), json.dumps(s))
print("got all:", found == EXPECTED)
print("last words", *found, file=sys.stderr)
sys.exit(3)
"""
YAML = """
results_dir: results
entries:
  - name: leaks
    script: leaks.py
    env: {DB_PASSWORD: yaml-s3cr3t-value, SERVICE_API_KEY: unset}
    sink_data: [{name: jsonl, note: "see yaml-s3cr3t-value"}]
    args: >-
      --password option-s3cr3t-value --api-key=equals-s3cr3t-value
      postgres://user:address-s3cr3t@host/db https://host/x?a=1&token=query-s3cr3t-value
sinks: [{name: jsonl, path: told.jsonl}]
"""


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> tuple[Workplace, Answer]:
    place = Workplace(tmp_path_factory.mktemp("secrets"))
    place.write("leaks.py", PROGRAM.replace("EXPECTED", repr(list(SECRETS.values()))))
    place.write("session.yaml", YAML)
    place.environment["WORK_TOKEN"] = SECRETS["environment"]
    words = ("--set", f"entries.leaks.env.SERVICE_API_KEY={SECRETS['set']}", "--reason", f"try {SECRETS['set']}")
    return place, place.assay("run", "--config", "session.yaml", *words)


def _forms(secret: str) -> list[bytes]:
    inside = base64.b64encode(b"user:" + secret.encode()).decode()[8:-4]
    return [form.encode() for form in (secret, quote(secret, safe=""), inside, json.dumps(secret)[1:-1])]


@pytest.mark.parametrize("kind", SECRETS)
def test_no_file_of_the_session_holds_it(ran: tuple[Workplace, Answer], kind: str) -> None:
    place, _ = ran
    own = {"leaks.py", "session.yaml", "params.json", "metrics.json", "tasks.jsonl"}
    """What the user and the program wrote themselves."""
    files = [path for path in place.folder.rglob("*") if path.is_file() and path.name not in own]
    names = {path.name for path in files}
    assert {"session.json", "report.html", "results.jsonl", "session.log", "stdouterr.log", "told.jsonl"} <= names
    for form in _forms(SECRETS[kind]):
        assert [str(path) for path in files if form in path.read_bytes()] == []


def test_no_command_prints_one(ran: tuple[Workplace, Answer]) -> None:
    place, answer = ran
    plan = place.assay("plan", "--config", "session.yaml")
    for said in (answer, place.assay("show", "latest"), place.assay("logs", "leaks"), plan):
        assert [secret for secret in SECRETS.values() if secret in said.out + said.err] == []


def test_the_program_got_the_real_ones(ran: tuple[Workplace, Answer]) -> None:
    log = ran[0].sessions()[0].path / "leaks" / "logs" / "stdout.log"
    assert "got all: True" in log.read_text()
    assert "***WORK_TOKEN*** is it" in log.read_text()


def test_rerun_asks_for_what_is_not_kept_and_then_runs_what_was_asked(ran: tuple[Workplace, Answer]) -> None:
    place, _ = ran
    refused = place.assay("rerun", "latest/leaks")
    assert refused.code == 2
    assert "was started with secrets, which are not kept on disk" in refused.err
    assert "set SERVICE_API_KEY (in 'entries.leaks.env.SERVICE_API_KEY=***SERVICE_API_KEY***')" in refused.err
    again = place.assay("rerun", "latest/leaks", SERVICE_API_KEY=SECRETS["set"])
    assert again.code == 1
    newest = place.sessions()[-1]
    assert newest.info().kind == "rerun"
    assert "got all: True" in (newest.path / "leaks" / "logs" / "stdout.log").read_text()


def test_a_secret_in_a_command_is_asked_for_again_by_resume(tmp_path: Path) -> None:
    place = Workplace(tmp_path)
    program = "import sys; sys.exit(sys.argv[2] != 'pw-1')"
    first = place.assay("run", "--runs", "1", "--", "python3", "-c", program, "--password", "pw-1")
    assert first.code == 0
    session = place.sessions()[0]
    assert "pw-1" not in (session.path / "session.json").read_text().replace(json.dumps(program)[1:-1], "")
    refused = place.assay("run", "--resume", "latest")
    assert (refused.code, "set PASSWORD (in '***PASSWORD***')" in refused.err) == (2, True)
    assert place.assay("run", "--resume", "latest", PASSWORD="pw-1").code == 0


def test_an_error_message_shows_none(tmp_path: Path) -> None:
    place = Workplace(tmp_path)
    place.write("session.yaml", "entries: [{name: a, command: 'true'}]\n")
    answer = place.assay("run", "--config", "session.yaml", "--set", "entires.a.env.API_KEY=hunter2-hunter2")
    assert answer.code == 2
    assert "hunter2" not in answer.err
