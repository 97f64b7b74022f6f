"""Secrets over HTTP: none is sent to a service but its own, none is kept from an answer, none is on a page."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from session_factory import MadeRun, make_session
from starlette.testclient import TestClient
from test_secrets import PROGRAM, SECRETS, YAML, _forms
from tests.sinks.moody_server import Answer, MoodyServer, Request
from workplace import Workplace

from assay.server.app import dashboard

OWN = "own-s3cr3t-of-the-sink"
"""The collector's token: sent to it, in its header, and to nobody else."""


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> tuple[Workplace, list[Request], str]:
    """A session whose program spills all it knows; its collector refuses with what it was sent, echoed."""
    place = Workplace(tmp_path_factory.mktemp("http"))

    def echo(request: Request) -> Answer:
        said = f"refused: {request.headers.get('authorization')} and {SECRETS['environment']}"
        return Answer(400, said.encode(), {"X-Echo": SECRETS["environment"]})

    server = MoodyServer(echo)
    place.write("leaks.py", PROGRAM.replace("EXPECTED", repr(list(SECRETS.values()))))
    sinks = f"sinks: [{{name: otlp, endpoint: '{server.url}', token: '${{OTLP_TOKEN}}'}}, {{name: slack, "
    sinks += f"webhook_url: '{server.url}/services/T/B/hook-s3cr3t'}}]\n"
    place.write("session.yaml", YAML.partition("sinks:")[0] + sinks)
    place.environment |= {"WORK_TOKEN": SECRETS["environment"], "OTLP_TOKEN": OWN}
    answer = place.assay(
        "run", "--config", "session.yaml", "--set", f"entries.leaks.env.SERVICE_API_KEY={SECRETS['set']}"
    )
    status = place.assay("sinks", "status", "latest", "--results-dir", "results")
    server.stop()
    return place, server.seen, answer.out + answer.err + status.out + status.err


@pytest.mark.parametrize("kind", SECRETS)
def test_no_request_holds_one_of_the_programs(told: tuple[Workplace, list[Request], str], kind: str) -> None:
    _, requests, _ = told
    assert {request.path for request in requests} == {"/v1/metrics", "/services/T/B/hook-s3cr3t"}
    for request in requests:
        body = gzip.decompress(request.body) if request.headers.get("content-encoding") == "gzip" else request.body
        sent = body + request.path.encode() + repr(request.headers).encode()
        assert [form for form in _forms(SECRETS[kind]) if form in sent] == [], request.path


def test_a_sinks_own_goes_to_it_alone_and_into_no_body(told: tuple[Workplace, list[Request], str]) -> None:
    _, requests, _ = told
    own = [request for request in requests if "/services/" not in request.path]
    assert {request.headers.get("authorization") for request in own} == {f"Bearer {OWN}"}
    assert not any(OWN.encode() in request.body for request in requests)
    assert not any(OWN in repr(request.headers) for request in requests if request not in own)


def test_what_a_service_answers_is_masked_where_it_is_kept_and_shown(
    told: tuple[Workplace, list[Request], str],
) -> None:
    place, _, shown = told
    assert "refused" in shown
    secrets = (*SECRETS.values(), OWN, "hook-s3cr3t")
    assert [secret for secret in secrets if secret in shown] == []
    session = place.sessions()[-1].path
    files = [path for path in session.rglob("*") if path.is_file() and "benchmark_results" not in path.parts]
    held = [(path.name, secret) for path in files for secret in secrets if secret.encode() in path.read_bytes()]
    assert held == []


def test_no_page_of_the_dashboard_shows_one(told: tuple[Workplace, list[Request], str]) -> None:
    place, _, _ = told
    name = place.sessions()[-1].path.name
    client = TestClient(dashboard(place.folder / "results"), base_url="http://localhost")
    entry = f"/session/entry?session={name}&entry=leaks"
    for page in ("/", f"/session?name={name}", entry, "/runs", "/entries", "/entry?name=leaks", f"/live?name={name}"):
        answer = client.get(page)
        assert answer.status_code == 200, page
        assert [form for secret in SECRETS.values() for form in _forms(secret) if form in answer.content] == [], page


def test_a_secret_in_an_address_is_not_echoed_into_the_log_of_the_server(tmp_path: Path) -> None:
    make_session(tmp_path, [MadeRun("alm", {"x": 1.0})])
    client = TestClient(dashboard(tmp_path), base_url="http://localhost")
    answer = client.get("/session?name=x&token=in-address-s3cr3t")
    assert answer.status_code == 404
    assert "in-address-s3cr3t" not in answer.text
