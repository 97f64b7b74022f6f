from __future__ import annotations

import json
from pathlib import Path

import pytest
from workplace import Workplace

from assay.config.entry_name import viewer_url
from assay.config.load_config import load_config
from assay.config.plan import make_plan

CONFIG = """
viewer_url_template: "https://v.example/{session_name}?p={session_path_url}"
entries: [{name: a, command: "true"}]
"""


def test_it_is_printed_at_the_start_and_kept(workplace: Workplace) -> None:
    workplace.write("s.yaml", CONFIG)
    answer = workplace.assay("run", "--config", "s.yaml")
    info = workplace.sessions()[-1].info()
    folder = f"{workplace.folder}/results/{info.name}".replace("/", "%2F")
    assert info.viewer_url == f"https://v.example/{info.name}?p={folder}"
    assert answer.out.splitlines()[1] == f"\tViewer: {info.viewer_url}"
    report = workplace.sessions()[-1].path / "report.html"
    assert f'<a href="{info.viewer_url}">viewer</a>' in report.read_text()
    workplace.assay("run", "--config", "s.yaml", "--viewer-url", "javascript:alert(1)")
    assert 'href="javascript' not in (workplace.sessions()[-1].path / "report.html").read_text()


def test_the_command_line_comes_before_the_files_and_a_secret_in_it_is_masked(workplace: Workplace) -> None:
    workplace.write("s.yaml", CONFIG)
    url = "https://other.example/{as it is}?key=s3cr3t-value-123"
    workplace.assay("run", "--config", "s.yaml", "--viewer-url", url, VIEWER_TOKEN="s3cr3t-value-123")
    session = workplace.sessions()[-1]
    assert str(session.info().viewer_url).startswith("https://other.example/{as it is}?key=")
    assert "s3cr3t" not in (session.path / "session.json").read_text()
    wrong = workplace.assay("run", "--config", "s.yaml", "--viewer-url-template", "https://{sesion_name}")
    assert wrong.code == 2
    assert "--viewer-url-template: unknown placeholder 'sesion_name'; did you mean 'session_name'?" in wrong.err


def test_in_a_container_it_has_the_hosts_paths(tmp_path: Path) -> None:
    text = {
        "paths": [{"name": "results_path", "host_path": "/raid/r", "container_path": "/results"}],
        "viewer_url_template": "{results_path} {session_path}",
        "entries": [{"name": "a", "command": "true"}],
    }
    (tmp_path / "f.json").write_text(json.dumps(text))
    inside = {"ASSAY_IN_CONTAINER": "1"}
    plan = make_plan(load_config([tmp_path / "f.json"], inside), inside)
    assert plan.results_dir == Path("/results")
    assert plan.viewer_url(plan.results_dir / "night") == "/raid/r /raid/r/night"


@pytest.mark.parametrize("template", ["{", "}", "{{x}}", "plain"])
def test_braces_that_are_no_placeholder_stay(template: str) -> None:
    assert viewer_url(template, "r", "n", "s") == template.replace("{{", "{").replace("}}", "}")
