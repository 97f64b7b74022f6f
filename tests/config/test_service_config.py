"""`service:` in session files: what is wrong with it is said with its place; a plan shows it."""

from __future__ import annotations

import pytest
from workplace import Workplace

from assay.config.session_config import session_schema

SESSION = """
service:
  command: "server --port {{port}} --size {{size}}"
  {more}
entries:
  - name: a
    command: "true {{service_url}}"
    matrix: {{size: [1, 2]}}
  - {{name: b, command: "true", service: null}}
"""


def plan(place: Workplace, text: str) -> tuple[int, str]:
    place.write("session.yaml", text)
    answer = place.assay("plan", "--config", "session.yaml")
    return answer.code, answer.out + answer.err


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("redy: /health", "session.yaml:4:3: service.redy: unknown key 'redy'; did you mean 'ready'?"),
        ("ready: {htp: /x}", "session.yaml:4:11: service.ready.htp: unknown key 'htp'; did you mean 'http'?"),
        ("ready: {http: /x, tcp: 1}", "service.ready: takes exactly one of `http`, `tcp`, `log` and `command`"),
        ("ready: {log: '('}", "service.ready.log: is not a regular expression"),
        ("ready: health", "service.ready: is a path that begins with /, or a URL"),
        ("restart: sometimes", "service.restart: must be 'always' or 'never', not 'sometimes'"),
        ("metrics: {interval_s: 0}", "service.metrics.interval_s: must be greater than or equal to 0.05"),
        ("url: localhost:8000", "service.url: must begin with http://, https:// or tcp://"),
        ("ready_timeout_s: 0", "service.ready_timeout_s: must be greater than 0"),
    ],
)
def test_what_is_wrong_is_said_once_with_its_place(workplace: Workplace, more: str, message: str) -> None:
    code, said = plan(workplace, SESSION.format(more=more))
    assert code == 2
    assert message in said
    assert said.count("session.yaml:") == 1


@pytest.mark.parametrize(
    ("service", "message"),
    [
        ("{ready: /x}", "service: command is missing"),
        ("{command: server}", "service: says no address: put {port} (a free port) into its `command` or `env`"),
        ("{command: 'server {prot}'}", "unknown placeholder 'prot'; did you mean 'port'?"),
    ],
)
def test_what_only_an_entry_gets_wrong_fails_that_entry(workplace: Workplace, service: str, message: str) -> None:
    code, said = plan(workplace, f"entries: [{{name: a, command: 'true', service: {service}}}]")
    assert code == 1
    assert message in said


def test_the_address_is_unknown_without_a_service(workplace: Workplace) -> None:
    code, said = plan(workplace, "entries: [{name: a, command: 'true {service_url}'}]")
    assert code == 1
    assert "unknown placeholder 'service_url'" in said


def test_a_plan_shows_it(workplace: Workplace) -> None:
    code, said = plan(workplace, SESSION.format(more="ready: /health\n  metrics: /metrics\n  restart: never"))
    assert code == 0, said
    assert "  with a service, kept for all its runs: server --port PORT --size 2" in said
    assert "    at http://127.0.0.1:PORT, ready when /health answers, within 300 s" in said
    assert "    /metrics read every 1 s" in said
    assert "with a service" not in said.partition("\nb  (")[2]


def test_an_entry_says_another_way_of_being_ready(workplace: Workplace) -> None:
    text = SESSION.format(more="ready: {log: up}").replace("matrix:", "service: {ready: /live}\n    matrix:")
    code, said = plan(workplace, text)
    assert code == 0, said
    assert "ready when /live answers" in said


def test_a_job_has_time_for_its_service(workplace: Workplace) -> None:
    workplace.write(
        "session.yaml",
        "entries: [{name: a, command: 'true', timeout_s: 10, repeat: 2,"
        " service: {command: 's {port}', ready_timeout_s: 30, stop_timeout_s: 5}}]",
    )
    assert workplace.assay("plan", "--config", "session.yaml", "--jobs").out == "a\t90\n"


def test_the_schema_has_it_with_its_short_forms() -> None:
    schema = session_schema()
    service = schema["$defs"]["ServiceConfig"]
    assert service["additionalProperties"] is False
    for key, model in (("ready", "ReadyConfig"), ("metrics", "ServiceMetricsConfig")):
        forms = service["properties"][key]["anyOf"]
        assert {"type": "string"} in forms
        assert {"$ref": f"#/$defs/{model}"} in forms
    for holder in (schema, schema["$defs"]["EntryConfig"]):
        assert {"$ref": "#/$defs/ServiceConfig"} in holder["properties"]["service"]["anyOf"]
