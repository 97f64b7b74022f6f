"""Secrets of kinds that have leaked: nothing that `run` and `plan` write or print holds one."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest
from workplace import Answer, Workplace

VARIABLES = {
    "PGPASSWORD": "pg-hunter22-value",
    "MYAPIKEY": "myapikeyvalue1",
    "GITHUB_PAT": "patA8F3kQ9zX2pL7mN4Yw6R",
    "KAGGLE_KEY": "0f3a9c81d27be6450f3a9c81d27be645",
    "SENTRY_DSN": "https://5ecre7d5n5ecre7d5n@o42.ingest.sentry.io/17",
    "REDISCLI_AUTH": "redis-A8F3-hunter",
    "UV_INDEX_URL": "https://uvA8F3kQ9zX2@pypi.example.com/simple",
    "HF_TOKEN": "token-of-hugging-face-1",
}
ARGUMENTS = {
    "header": "argA8F3kQ9zX2header",
    "address": "argA8F3kQ9zX2address",
    "slash": "arg/A8F3kQ9/slash",
    "option": "arghunteroption",
    "account": "argA8F3kQ9zX2account0123==",
    "json": "arghunterjson",
}
PRINTED = {
    "github": "ghp_A8F3kQ9zX2pL7mN4Yw6RtB1vC5dE0gHjUiOp",
    "pem": "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW",
    "jwt": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.A8F3kQ9zX2pL7mN4Yw6RtB1v",
    "connection": "A8F3kQ9zX2connection0123456789==",
}
PROGRAM = """
import base64, json, os, sys, time, urllib.parse
argv = " ".join(sys.argv[1:])
for name in VARIABLES:
    value = os.environ[name]
    print(name, value, json.dumps({"value": value}), urllib.parse.quote(value, safe=""))
    print(base64.b64encode(value.encode()).decode(), file=sys.stderr)
print(argv)
for value in PRINTED.values():
    half = len(value) // 2
    text = "AccountKey=" + value if value.endswith("==") else value
    text = "-----BEGIN OPENSSH PRIVATE KEY-----\\n" + value + "\\n-----END" if value.startswith("b3") else text
    for at in range(0, len(text), 11):
        sys.stdout.write(text[at:at + 11]); sys.stdout.flush(); time.sleep(0.002)
    print(" printed")
print("max_tokens=4096 tokens: 512 MONKEY 0f3a9c81 http://localhost:8080/@vite")
""".replace("VARIABLES", repr(list(VARIABLES))).replace("PRINTED", repr(PRINTED))


def _words(program: Path) -> list[str]:
    return [
        "python3", str(program),
        json.dumps({"Authorization": f"Bearer {ARGUMENTS['header']}"}),
        f"https://{ARGUMENTS['address']}@example.com/repo.git",
        f"postgres://app:{ARGUMENTS['slash']}@db/app",
        "--dbpassword", ARGUMENTS["option"],
        f"DefaultEndpointsProtocol=https;AccountName=a;AccountKey={ARGUMENTS['account']}",
        "--body", json.dumps({"client_secret": ARGUMENTS["json"], "rows": 3}),
        "--max-tokens", "4096",
    ]  # fmt: skip


def _leaks(place: Workplace, answer: Answer, secrets: dict[str, str], own: set[str]) -> list[tuple[str, str]]:
    """Kinds of secrets that can be read, and where."""
    files = [path for path in place.folder.rglob("*") if path.is_file() and path.name not in own]
    texts = {path.name: path.read_bytes() for path in files}
    texts |= {"standard output": answer.out.encode(), "standard error": answer.err.encode()}
    assert "session.json" in texts or own == {"session.yaml"}
    found = []
    for kind, secret in secrets.items():
        secret = secret.partition("://")[2].partition("@")[0] or secret
        forms = {secret.encode(), base64.b64encode(secret.encode())[:-4], json.dumps(secret)[1:-1].encode()}
        found += [(kind, name) for name, text in texts.items() if any(form in text for form in forms)]
    return found


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> tuple[Workplace, Answer]:
    place = Workplace(tmp_path_factory.mktemp("leaks"))
    program = place.write("leaks.py", PROGRAM)
    return place, place.assay("run", "--runs", "1", "--", *_words(program), **VARIABLES)


@pytest.mark.parametrize("kind", [*VARIABLES, *ARGUMENTS, *PRINTED])
def test_nothing_of_a_session_holds_it(ran: tuple[Workplace, Answer], kind: str) -> None:
    place, answer = ran
    assert answer.code == 0, answer.err
    secrets = {**VARIABLES, **ARGUMENTS, **PRINTED}
    assert _leaks(place, answer, {kind: secrets[kind]}, {"leaks.py"}) == []


def test_what_is_innocent_is_shown(ran: tuple[Workplace, Answer]) -> None:
    place, _ = ran
    log = next(place.folder.rglob("stdout.log")).read_text()
    assert "max_tokens=4096 tokens: 512 MONKEY 0f3a9c81 http://localhost:8080/@vite" in log
    assert "--max-tokens" in next(place.folder.rglob("session.json")).read_text()


def test_json_in_a_shell(tmp_path: Path) -> None:
    place = Workplace(tmp_path)
    plain = """echo '{"api_key": "shellhunter1", "rows": 3}'"""
    escaped = r'''echo "{\"password\": \"shellhunter2\"}"'''
    line = f"{plain} && {escaped} && PGPASSWORD=shellhunter3 true"
    answer = place.assay("run", "--runs", "1", "--shell", "--", line)
    assert answer.code == 0, answer.err
    assert _leaks(place, answer, {str(n): f"shellhunter{n}" for n in (1, 2, 3)}, set()) == []
    assert "rows" in next(place.folder.rglob("session.json")).read_text()


def test_plan_prints_none(tmp_path: Path) -> None:
    place = Workplace(tmp_path)
    place.write(
        "session.yaml",
        """
results_dir: results
entries:
  - name: a
    command: "true"
    env: {MYAPIKEY: "${MYAPIKEY}", MAX_TOKENS: "4096"}
    args: "--data {dataset:${HF_TOKEN}} --dbpassword arghunteroption https://argA8F3kQ9zX2address@example.com/x"
""",
    )
    answer = place.assay("plan", "--config", "session.yaml", **VARIABLES)
    assert "a  (" in answer.out
    assert _leaks(place, answer, {**VARIABLES, **ARGUMENTS}, {"session.yaml"}) == []


def test_words_that_are_not_understood_are_quoted_without_secrets(tmp_path: Path) -> None:
    answer = Workplace(tmp_path).assay("show", "latest", "--dbpassword", "arghunteroption")
    assert answer.code == 2
    assert "--dbpassword" in answer.err
    assert "arghunteroption" not in answer.err
