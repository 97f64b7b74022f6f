"""The page of a load on an endpoint: what it says, and that nothing in its file can break it."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path
from typing import Any

import pytest
from browser import Watched, chromium
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from serving_file import made_load, made_sweep, write_serving_file
from session_factory import MadeRun, make_session

from assay.analysis.serving import ServingResult
from assay.errors import DataError
from assay.record import SessionFolder
from assay.report.exhibits.serving import ServingExhibit
from assay.report.html import render_report, write_report
from assay.report.run_folder import PageLimits


def shown(folder: Path, written: Any) -> ServingExhibit:
    return ServingExhibit.of(ServingResult.read(write_serving_file(folder, written)), PageLimits())


def session(folder: Path, **loads: Any) -> SessionFolder:
    made = make_session(folder, [MadeRun(name, {"requests_per_s": 20.0}) for name in loads])
    for name, written in loads.items():
        write_serving_file(made.path / name / "benchmark_results", written)
    return made


def words(page: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", re.sub(r"(?s)<(script|style).*?</\1>", "", page)).split())


def test_the_first_figures_are_what_people_ask(tmp_path: Path) -> None:
    written = made_load()
    [load] = shown(tmp_path, written).loads
    titles = [figure.title for figure in load.figures]
    assert titles == [
        "Load asked", "Answered", "First token, median", "Per output token, median", "Whole answer, median", "Errors",
        "The client used",
    ]  # fmt: skip
    said = {figure.title: figure for figure in load.figures}
    assert (said["Load asked"].value, said["Load asked"].detail) == ("20/s (poisson)", "99.9% of it delivered")
    assert said["Answered"].detail == "goodput 18/s, 634 tokens/s"
    assert (said["The client used"].value, said["The client used"].detail) == ("4.12% of a core", "compiled")
    assert said["Errors"].value == "none"


def test_times_that_are_not_the_servers_are_said_to_be_not(tmp_path: Path) -> None:
    reason = "the client was the bottleneck: it used 99% of a core"
    text = words(render_report(session(tmp_path, api=made_load(client_bottleneck=reason))))
    assert reason in text
    assert "not the server's under the load that was asked for" in text


def test_errors_stand_out_and_are_marked_in_time(tmp_path: Path) -> None:
    [load] = shown(tmp_path, made_load(errors=3)).loads
    [errors] = [figure for figure in load.figures if figure.title == "Errors"]
    assert (errors.value, errors.detail, errors.bad) == ("3", "3 × 5xx", True)
    assert [plot.title for plot in load.plots] == ["In flight", "Requests", "Output tokens", "Errors"]
    assert load.plots[0].marks == (3.75,)


@pytest.mark.parametrize(
    ("peak", "sentence"),
    [
        ({"rate": 40, "bounded": True, "confirmed": True}, "is 40 requests/s, and did so again when repeated."),
        ({"rate": 40, "bounded": True, "confirmed": False}, "is 40 requests/s; a repeat did not confirm it."),
        ({"rate": 40, "bounded": False, "confirmed": True}, "the peak is at least 40 requests/s, and did so again"),
        ({"rate": None, "bounded": True, "confirmed": False}, "No rate tried meets the objectives."),
        (None, ""),
    ],
)
def test_the_highest_rate_is_said_as_it_was_found(tmp_path: Path, peak: Any, sentence: str) -> None:
    written = made_sweep()
    written["curve"]["peak"] = peak
    made = shown(tmp_path, written)
    assert sentence in made.peak
    assert [plot.title for plot in made.curve] == [
        "Time to first token", "Time per output token", "Whole answer", "Throughput",
    ]  # fmt: skip


def test_without_objectives_none_is_said_to_be_met(tmp_path: Path) -> None:
    written = made_sweep()
    assert "objectives met" in words(render_report(session(tmp_path / "with", api=written)))
    for point in written["points"]:
        point["objectives"] = []
    said = words(render_report(session(tmp_path / "without", api=written)))
    assert "objectives met" not in said
    assert "load delivered" in said


def test_several_settings_share_one_chart(tmp_path: Path) -> None:
    page = render_report(session(tmp_path, fast=made_sweep(), slow=made_sweep(slower=2.0)))
    [chart] = re.findall(r"(?s)<section aria-labelledby=\"serving\">.*?</section>", page)
    assert chart.count("<span>fast (ms)</span>") == 3
    assert chart.count("<span>slow (ms)</span>") == 3


def test_one_setting_needs_no_shared_chart(tmp_path: Path) -> None:
    assert 'aria-labelledby="serving"' not in render_report(session(tmp_path, fast=made_sweep(), other=made_load()))


@pytest.mark.parametrize("written", ["[]", "{}", '{"version": 2}', '{"version": 1, "points": []}', "{", '"x"'])
def test_what_cannot_be_shown_is_said(tmp_path: Path, written: str) -> None:
    with pytest.raises(DataError):
        shown(tmp_path, written)
    assert "serving.json is not shown: it" in words(render_report(session(tmp_path, api=written)))


HOSTILE = st.sampled_from(
    [None, True, -1, 1e308, "x" * 3000, "<script>alert(1)</script>", [], {}, [[]], {"p50": "y"}, -0.0, 10**30, "nan"]
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_value_of_a_wrong_kind_breaks_the_page(tmp_path: Path, data: st.DataObject) -> None:
    written = copy.deepcopy(made_sweep((10, 20)))
    for _ in range(data.draw(st.integers(1, 4))):
        put(written, data)
    path = write_serving_file(tmp_path, json.dumps(written))
    try:
        result = ServingResult.read(path)
    except DataError:
        return
    made = ServingExhibit.of(result, PageLimits())
    assert all(len(values) <= len(plot.x) for plot in made.plots for _, values in plot.lines)


def put(place: Any, data: st.DataObject) -> None:
    """A hostile value somewhere in a tree."""
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = data.draw(st.sampled_from(keys))
        inner = place[key]
        if not isinstance(inner, dict | list) or not inner or data.draw(st.booleans()):
            place[key] = copy.deepcopy(data.draw(HOSTILE))
            return
        place = inner


@pytest.mark.slow
def test_the_page_in_a_browser(tmp_path: Path) -> None:
    from axe_playwright_python.sync_playwright import Axe

    loads = {"api": made_load(errors=3), "fast": made_sweep(), "slow": made_sweep(slower=2)}
    path = write_report(session(tmp_path, **loads))
    with chromium() as browser:
        watched = Watched(browser, "file:")
        watched.page.goto(path.as_uri())
        watched.page.evaluate("document.querySelectorAll('details').forEach(fold => { fold.open = true })")
        assert watched.page.locator("dl.figures").count() == 9
        assert Axe().run(watched.page).violations_count == 0, Axe().run(watched.page).generate_report()
        assert (watched.errors, watched.outside) == ([], [])
