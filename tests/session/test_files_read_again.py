"""Commands that read a session's files again or without its sinks, where a variable is not set any more."""

from __future__ import annotations

import pytest
from workplace import Workplace

UNSET = "ASSAY_TEST_TOLD is not set"
SESSION = """
sinks: [{name: jsonl, path: "${ASSAY_TEST_TOLD}"}]
entries:
  - {name: a, command: "true"}
  - {name: b, command: "true"}
"""


@pytest.fixture
def place(workplace: Workplace) -> Workplace:
    workplace.write("s.yaml", SESSION)
    told = str(workplace.folder / "told.jsonl")
    answer = workplace.assay("run", "--config", "s.yaml", "--entries-exact", "a", ASSAY_TEST_TOLD=told)
    assert answer.code == 0, answer.err
    return workplace


@pytest.mark.parametrize("words", [("rerun", "latest/a"), ("run", "--resume", "latest")])
def test_rerun_and_resume_take_what_the_message_offers(place: Workplace, words: tuple[str, ...]) -> None:
    refused = place.assay(*words)
    assert (refused.code, UNSET in refused.err, "--lenient-config" in refused.err) == (2, True, True)
    lenient = place.assay(*words, "--lenient-config")
    assert (lenient.code, f"{UNSET}: its value is taken as empty" in lenient.err) == (0, True), lenient.err
    without = place.assay(*words, "--no-sink", "jsonl")
    assert (without.code, UNSET in without.err) == (0, False), without.err


def test_a_session_that_goes_on_has_the_entries_it_was_started_with(place: Workplace) -> None:
    listed = place.assay("run", "--resume", "latest", "--list", "--no-sink", "jsonl")
    assert listed.out.split() == ["a"]
    for words in (["--entries-exact", "b"], ["--config", "s.yaml"], ["--reason", "why"], ["--", "true"]):
        refused = place.assay("run", "--resume", "latest", *words)
        assert refused.code == 2
        what = "a command" if words[0] == "--" else words[0]
        assert f"--resume goes on with what the session was started with: leave out {what}" in refused.err


def test_a_plan_leaves_sinks_out_as_a_run_does(place: Workplace) -> None:
    answer = place.assay("plan", "--config", "s.yaml", "--no-sink", "jsonl")
    assert (answer.code, "sinks: none" in answer.out) == (0, True), answer.err


def test_an_experiment_tells_no_sink_and_needs_none_of_its_variables(place: Workplace) -> None:
    words = ["--config", "s.yaml", "--entries", "a", "--pairs", "1", "--block", "1", "--warmup", "0", "--quiet"]
    answer = place.assay("calibrate", *words)
    assert "is not set" not in answer.err
    assert [folder.info().kind for folder in place.sessions()] == ["run", "calibrate"]
    place.write("s.yaml", SESSION.replace("entries:", "metrics: {x: {unit: '${ASSAY_TEST_UNIT}'}}\nentries:"))
    refused = place.assay("calibrate", *words)
    assert (refused.code, "--lenient-config" in refused.err) == (2, True)
    place.assay("calibrate", *words, "--lenient-config")
    assert [folder.info().kind for folder in place.sessions()] == ["run", "calibrate", "calibrate"]
