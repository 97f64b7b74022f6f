"""Any number of sides: ranked best first, drawn against each other, on the page and on the command line."""

from __future__ import annotations

import json
import random
import re
from datetime import timedelta
from pathlib import Path

import pytest
from session_factory import START, MadeRun, make_session
from starlette.testclient import TestClient

from assay.analysis.ranking import pareto
from assay.cli.main import main
from assay.history import History
from assay.server.app import dashboard

RATES = {"one": 1000.0, "two": 1250.0, "three": 800.0, "same": 1001.0}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("results")
    rng = random.Random(4)
    with History.beside(folder) as history:
        for day, (name, rate) in enumerate(RATES.items()):
            runs = [
                MadeRun(
                    "alm",
                    {
                        "rows_per_s": {"value": rate * (1 + rng.gauss(0, 0.005)), "unit": "1/s", "better": "higher"},
                        "loss": {"value": 2000 / rate * (1 + rng.gauss(0, 0.005)), "better": "lower"},
                    },
                    exec_time_s=10_000 / rate * (1 + rng.gauss(0, 0.005)),
                    repeat=number + 1, repeats=8, usage_series=False,
                )
                for number in range(8)
            ]  # fmt: skip
            history.add_session(make_session(folder, runs, name=name, started=START + timedelta(days=day)))
    return folder


def test_the_best_stands_first_with_its_interval(results: Path) -> None:
    client = TestClient(dashboard(results), base_url="http://localhost")
    text = client.get("/compare?base=one&with=two&with=three&with=same").text
    ranking = text.partition('aria-label="alm rows_per_s"')[2].partition("</section>")[0]
    letters = [part[0] for part in ranking.split('<span class="letter c')[1:] for part in [part.partition(">")[2]]]
    assert letters == ["B", "D", "A", "C"] or letters == ["B", "A", "D", "C"]
    assert "improved" in ranking
    assert "regressed" in ranking
    assert 'class="scatter"' in text
    assert "more is better" in text
    only = client.get("/compare?base=one&with=two&metric=loss").text
    assert 'aria-label="alm loss"' in only
    assert 'aria-label="alm rows_per_s"' not in only
    drawn = client.get("/compare?base=one&with=two&entry=alm&x=loss&y=exec_time_s").text
    assert "loss (less is better)" in drawn


def test_runs_and_sessions_may_be_mixed(results: Path) -> None:
    client = TestClient(dashboard(results), base_url="http://localhost")
    text = client.get("/compare?base=one&with=two/alm/run-01&with=three/alm/run-02").text
    assert 'aria-label="alm rows_per_s"' in text


def test_of_those_chosen_in_a_list_the_oldest_is_the_first(results: Path) -> None:
    client = TestClient(dashboard(results), base_url="http://localhost")
    text = client.get("/compare?with=three&with=two&with=one").text
    assert re.findall(r'aria-label="Side ([A-C])"', text) == ["A", "B", "C"]
    assert re.findall(r'name="(?:base|with)" list="sessions" value="(\w+)"', text) == ["one", "two", "three"]


def test_the_front_is_what_no_other_beats_in_both() -> None:
    places = [(1.0, 1.0), (2.0, 3.0), (3.0, 2.0), (1.0, 1.0), (0.5, 9.0)]
    assert pareto(places, ("higher", "higher")) == [1, 2, 4]
    assert pareto(places, ("lower", "lower")) == [0, 3, 4]
    assert pareto(places[:2], ("higher", "lower")) == [0, 1]


def _compare(capsys: pytest.CaptureFixture[str], results: Path, *words: str) -> tuple[int, str, str]:
    code = main(["compare", *words, "--results-dir", str(results)])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_on_the_command_line(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = _compare(capsys, results, "one", "two", "three")
    assert code == 3
    lines = [line.split() for line in out.splitlines()]
    at = next(number for number, line in enumerate(lines) if line[:2] == ["alm", "rows_per_s"])
    assert [lines[at][2], lines[at + 1][0], lines[at + 2][0]] == ["B", "A", "C"]
    assert _compare(capsys, results, "one", "two", "same")[0] == 0
    code, out, _ = _compare(capsys, results, "one", "two", "three", "--format", "json")
    told = json.loads(out)
    assert (code, told["exit_code"], told["sides"]) == (3, 3, ["one", "two", "three"])
    best = next(one for one in told["rankings"] if one["metric"] == "rows_per_s")["standings"][0]
    assert (best["side"], best["runs"], best["verdict"]) == ("two", 8, "improved")
    assert best["low"] <= best["value"] <= best["high"]
    assert "| alm | rows\\_per\\_s | B |" in _compare(capsys, results, "one", "two", "three", "--format", "markdown")[1]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("one", "two", "nothing"), "no session 'nothing'"),
        (("one", "two", "one"), "one was given twice"),
        (("one", "two", "three", "--format", "html"), "--format html is of two sides"),
    ],
)
def test_what_cannot_be_compared(
    results: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], said: str
) -> None:
    code, _, err = _compare(capsys, results, *words)
    assert (code, said in err) == (2, True), err


def test_a_base_from_before_a_step_is_not_held_against_the_level_after_it(tmp_path: Path) -> None:
    """Nights at the new level lie between the two: they say nothing of how the base differs from the head."""
    rng = random.Random(6)
    with History.beside(tmp_path) as history:
        for night in range(40):
            rate = 1000 * (0.8 if night >= 25 else 1.0) * (1 + rng.gauss(0, 0.004))
            run = MadeRun("alm", {"rows_per_s": {"value": rate, "unit": "1/s", "better": "higher"}}, usage_series=False)
            history.add_session(
                make_session(tmp_path, [run], name=f"n{night:02d}", started=START + timedelta(days=night))
            )
    from assay.api.compare import compare

    [row] = [one for one in compare("n20", "n39", results_dir=tmp_path).rows if one.metric == "rows_per_s"]
    assert str(row.verdict) != "equivalent"
    assert row.ratio is not None
    assert row.ratio < 0.85
