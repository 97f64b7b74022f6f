"""Sinks of users' own, in the forms that the frameworks Assay grew from document."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from workplace import Workplace

NEWER = """\
import json
from typing import Any
from loguru import logger
from runner.sinks.sink import Sink


class MyCustomSink(Sink):
    def __init__(self, config: dict[str, Any]):
        super().__init__(config)
        self.config = config
        self.enabled = config.get("enabled", True)
        self.api_endpoint = config.get("api_endpoint")
        if not self.api_endpoint:
            raise ValueError("MyCustomSink: api_endpoint is required")

    def initialize(self, session_name: str, env_data: dict[str, Any]) -> None:
        self.session_name = session_name
        if self.enabled:
            logger.info(f"MyCustomSink: Starting session {session_name}")

    def process_result(self, result: dict[str, Any]) -> None:
        if self.enabled:
            logger.info(f"MyCustomSink: Processing {result['name']}")
            self._send_to_api(result)

    def finalize(self) -> None:
        self._send_to_api({"finalized": self.session_name})

    def _send_to_api(self, data: dict) -> None:
        with open(self.api_endpoint, "a") as out:
            out.write(json.dumps(data) + "\\n")
"""
OLDER = """\
class CustomSink:
    def __init__(self, path): self.path = path
    def say(self, *words):
        with open(self.path, "a") as out: print(*words, file=out)
    def start_session(self, session_name: str): self.say("session", session_name)
    def start_run(self, run_name: str): self.say("run", run_name)
    def log_params(self, params: dict): self.say("params", params)
    def log_metrics(self, metrics: dict): self.say("rows", metrics["rows"])
    def log_artifact(self, path: str): pass
    def end_run(self, success: bool): self.say("end", success)
    def end_session(self, success: bool): self.say("over", success)
"""
BENCH = 'import assay\nwith assay.benchmark() as b: b.metric("rows", 5)'
CLASS = "'runner.sinks.my_custom_sink:MyCustomSink'"
HEARD = ["session s", "run e", "params {}", "rows 5", "end True", "over True"]


def session(place: Workplace, sink: str) -> list[str]:
    """The words that run it, from another folder than the configuration's."""
    place.write("benchmarking/bench.py", BENCH)
    place.write("benchmarking/config.yaml", f"results_dir: results\n{sink}entries:\n- {{name: e, script: bench.py}}\n")
    return ["--config", "benchmarking/config.yaml"]


def told(file: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_a_sink_is_found_beside_the_yaml_by_its_name_and_runs_as_it_is(workplace: Workplace) -> None:
    api = workplace.folder / "api.jsonl"
    words = session(workplace, f"sinks:\n- name: my_custom\n  api_endpoint: {api}\n  enabled: true\n")
    workplace.write("benchmarking/runner/sinks/my_custom_sink.py", NEWER)
    answer = workplace.assay("run", *words)
    assert answer.code == 0, answer.out + answer.err
    assert [line.get("name", line.get("finalized")) for line in told(api)] == ["e", workplace.sessions()[0].info().name]
    assert told(api)[0]["script_metrics"]["rows"] == 5
    said = "\tsink my_custom: runner.sinks.sink: not found, so Assay's own stood in for it\n"
    assert said in answer.out
    assert said.strip() in workplace.sessions()[0].log.read_text()
    assert "Processing e" in (workplace.sessions()[0].path / "outbox/delivery.log").read_text()


def test_a_sink_is_found_by_its_class_and_a_flush_from_elsewhere_finds_it_too(workplace: Workplace) -> None:
    api = workplace.folder / "later" / "api.jsonl"
    words = session(workplace, f"sinks:\n- {{name: mine, class: {CLASS}, api_endpoint: {api}}}\n")
    workplace.write("benchmarking/runner/sinks/my_custom_sink.py", NEWER)
    answer = workplace.assay("run", *words)
    assert answer.code == 0, answer.out + answer.err
    assert "Sink mine: " in answer.out
    assert "pending" in answer.out
    api.parent.mkdir()
    flushed = Workplace(api.parent).assay("sinks", "flush", str(workplace.sessions()[0].path))
    assert flushed.code == 0, flushed.out + flushed.err
    assert len(told(api)) == 2


HOOK = "  def process_result(self, r): pass"
MODULES = {
    "my_custom_sink.py": NEWER,
    "kwargs_sink.py": f"class Kwargs:\n  def __init__(self, url, retries=3): pass\n{HOOK}",
    "broken_sink.py": "from nowhere_at_all import x\n",
    "raising_sink.py": "raise RuntimeError('not today')",
    "leaving_sink.py": "import os; os._exit(7)",
    "two_sink.py": f"class A:\n{HOOK}\nclass B(A): pass",
    "empty_sink.py": "X = 1",
    "down_sink.py": f"class S:\n  def __init__(self): raise ConnectionError('down')\n{HOOK}",
    "secret_sink.py": f"class S:\n  def __init__(self, token): raise ValueError(token)\n{HOOK}",
}
SINKS = {
    "name: my_custom": "class: MyCustomSink cannot be made with these keys: ValueError: MyCustomSink: api_endpoint",
    "name: kwargs, url: x, retires: 5": "retires: unknown key 'retires' of sink 'kwargs'; did you mean 'retries'?",
    "name: needy, class: kwargs_sink": "url: sink needy needs it",
    "name: broken": "class: broken_sink: its module needs 'nowhere_at_all', which is not installed",
    "name: raising": "class: raising_sink: its module cannot be imported: RuntimeError: not today",
    "name: leaving": "class: leaving_sink: its process ended itself with code 7 while it was loaded",
    "name: two": "class: two_sink has 2 sinks; say which: class: two_sink:A, class: two_sink:B",
    "name: empty": "class: empty_sink has no sink: no class with a method process_result or start_run",
    "name: gone, class: gone_sink": "class: nothing is at 'gone_sink' below ",
    "name: nobody": "name: unknown sink 'nobody'",
    "name: secret, token: hunter2-hunter2": "class: S cannot be made with these keys: ValueError: ***",
}


def test_what_is_wrong_with_a_sink_is_said_before_anything_runs(workplace: Workplace) -> None:
    for name, text in MODULES.items():
        workplace.write(f"benchmarking/{name}", text)
    lines = "".join(f"- {{{sink}}}\n" for sink in SINKS)
    answer = workplace.assay("plan", *session(workplace, f"sinks:\n{lines}- {{name: down}}\n"))
    assert answer.code == 2
    problems = answer.err.splitlines()
    assert len(problems) == len(SINKS), answer.err
    for at, (shown, why) in enumerate(zip(problems, SINKS.values(), strict=True)):
        assert f"config.yaml:{at + 3}:3: sinks[{at}].{why}" in shown
    assert workplace.sessions() == []


def test_a_sink_that_lacks_only_unset_variables_is_left_out_by_a_lenient_reading(workplace: Workplace) -> None:
    for name, text in MODULES.items():
        workplace.write(f"benchmarking/{name}", text)
    unset = "api_endpoint: '${ASSAY_TEST_API}', key: '${ASSAY_TEST_KEY}', other: '${ASSAY_TEST_API}'"
    words = session(workplace, f"sinks:\n- {{name: my_custom, {unset}}}\n")
    strict = workplace.assay("plan", *words)
    assert (strict.code, "ASSAY_TEST_API is not set; set it" in strict.err) == (2, True)
    lenient = workplace.assay("run", "--lenient-config", *words)
    assert lenient.code == 0, lenient.err
    why = "as ASSAY_TEST_API and ASSAY_TEST_KEY are not set: class: MyCustomSink cannot be made with these keys"
    assert f"config.yaml:3:3: sinks[0] is left out, {why}" in lenient.err
    assert "Sink my_custom" not in lenient.out
    misspelt = session(workplace, "sinks:\n- {name: kwargs, url: '${ASSAY_TEST_API}', retires: 5}\n")
    answer = workplace.assay("plan", "--lenient-config", *misspelt)
    assert (answer.code, "did you mean 'retries'?" in answer.err) == (2, True)


def test_a_service_that_is_down_keeps_no_session_from_running(workplace: Workplace) -> None:
    workplace.write("benchmarking/down_sink.py", MODULES["down_sink.py"])
    answer = workplace.assay("run", *session(workplace, "sinks:\n- {name: down}\n- {name: nobody, enabled: false}\n"))
    assert answer.code == 0, answer.err
    assert "Sink down: 0 delivered, 4 pending (ConnectionError: down)" in answer.out


@pytest.mark.parametrize("sink", ["custom", "nightly.sinks.custom_sink.CustomSink", "nightly.sinks.custom_sink"])
def test_the_older_form_has_a_block_under_the_sinks_name_and_takes_a_path(workplace: Workplace, sink: str) -> None:
    heard = workplace.folder / "heard.txt"
    workplace.write("nightly/sinks/custom_sink.py", OLDER)
    workplace.write("nightly/bench.py", BENCH)
    block = f"custom:\n  path: {heard}\n"
    workplace.write("nightly/m.yaml", f"results_dir: results\n{block}entries:\n- {{name: e, script: bench.py}}\n")
    workplace.write("datasets.json", "{}")
    words = ["--matrix", "nightly/m.yaml", "--datasets", "datasets.json"]
    if sink == "custom":  # The block waits to be asked for.
        assert "\nsinks: none\n" in workplace.assay("plan", *words).out
        for new, asked, sinks in (("waits", [], "none"), ("acts", ["--sink", "custom"], "custom")):
            answer = workplace.assay("migrate", "nightly/m.yaml", *asked, "--output", f"nightly/{new}.yaml")
            assert answer.code == 0, answer.err
            assert f"\nsinks: {sinks}\n" in workplace.assay("plan", "--config", f"nightly/{new}.yaml").out
    answer = workplace.assay("run", *words, "--session-name", "s", "--sink", sink)
    assert answer.code == 0, answer.out + answer.err
    assert heard.read_text().splitlines() == HEARD
    assert "Sink custom: 4 delivered" in answer.out
