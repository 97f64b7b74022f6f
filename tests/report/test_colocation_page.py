"""The page of a colocation: what is said of its numbers, and that nothing in its file can break it."""

from __future__ import annotations

import copy
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from colocation_file import made_matrix, made_rates, made_together, write_colocation
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from session_factory import MadeRun, make_session

from assay.analysis.colocation.colocation_result import ColocationResult
from assay.analysis.colocation.slowdown import SlowdownEstimate
from assay.analysis.fields import Fields
from assay.cli.main import main
from assay.errors import DataError
from assay.record import SessionFolder, TaskPerf
from assay.report.exhibits.colocation import ColocationExhibit
from assay.report.exhibits.heat_map import HeatCell
from assay.report.html import render_colocation, write_colocation_page, write_report
from assay.report.markdown import session_markdown
from assay.report.run_folder import PageLimits

HOSTILE = "<script>alert('x')</script>\x1b[31m"


def shown(folder: Path, written: Any) -> ColocationExhibit:
    return ColocationExhibit.of(ColocationResult.read(write_colocation(folder, written)), "", PageLimits())


def rendered(folder: Path, written: Any) -> str:
    write_colocation(folder, written)
    return write_colocation_page(folder).read_text(encoding="utf-8")


def words(page: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", re.sub(r"(?s)<(script|style).*?</\1>", "", page)).split())


def test_rows_suffer_columns_cause_and_the_diagonal_is_its_own_copy(tmp_path: Path) -> None:
    written = made_matrix(("api", "batch"), {("api", "batch"): 1.6, ("batch", "batch"): 0.7})
    [throughput, *_] = shown(tmp_path, written).maps
    assert (throughput.title, throughput.columns) == ("By throughput", ("api", "batch"))
    tones = {who: [cell.tone for cell in cells] for who, cells in throughput.rows}
    assert tones == {"api": ["unsure", "slower"], "batch": ["unsure", "faster"]}
    heats = {who: [cell.heat > 0 for cell in cells] for who, cells in throughput.rows}
    assert heats == {"api": [False, True], "batch": [False, True]}
    assert throughput.rows[0][1][0].says.startswith("api beside its own copy, throughput: ")


@pytest.mark.parametrize("copied", ["api", "api (copy)"])
def test_a_copy_is_known_by_either_name(tmp_path: Path, copied: str) -> None:
    written = made_matrix(("api", "batch"), {})
    for cell in written["cells"]:
        if cell["beside"] == [cell["pipeline"]] == ["api"]:
            cell["beside"] = [copied]
    exhibit = shown(tmp_path, written)
    [group] = [one for one in exhibit.groups if one.title == "api + api (copy)"]
    [cell] = [cells[0] for who, cells in exhibit.maps[0].rows if who == "api"]
    assert cell.anchor == group.anchor
    assert all(len(row.slowdowns) == 2 for row in group.stages[0].rows)


def test_every_cell_leads_to_the_stages_of_both(tmp_path: Path) -> None:
    page = rendered(tmp_path, made_matrix(("api", "batch"), {("api", "batch"): 1.6}))
    leads = re.findall(r'<td class="\w+"[^>]*><a href="#([^"]+)" aria-label="(\w+) beside ([^,]+),', page)
    assert len(leads) == 3 * 4
    for anchor, who, beside in leads:
        body = page.partition(f'id="{anchor}"')[2].partition("</details>")[0]
        other = f"{who} (copy)" if beside == "its own copy" else beside
        assert f"Stages of {who}<" in body
        assert f"Stages of {other}<" in body


def test_the_answer_stands_first_and_what_is_inconclusive_last(tmp_path: Path) -> None:
    exhibit = shown(tmp_path, made_matrix(("api", "batch"), {("api", "batch"): 1.6, ("batch", "api"): 2.5}))
    assert [one.says for one in exhibit.findings] == [
        "batch is slower beside api",
        "api is slower beside batch",
        "2 cases are inconclusive: each may be as fast as alone (1×).",
    ]
    nothing = shown(tmp_path, made_matrix(("api", "batch"), {}))
    assert [one.says for one in nothing.findings] == [
        "Can't tell whether any pipeline is slower beside another: each may be as fast as alone (1×)."
    ]


def test_without_intervals_nothing_is_said_of_them(tmp_path: Path) -> None:
    written = made_matrix(("api", "batch"), {("api", "batch"): 3.0})
    for cell in written["cells"]:
        cell.update(low=None, high=None)
    exhibit = shown(tmp_path, written)
    assert exhibit.findings == ()
    assert {cell.tone for _, cells in exhibit.maps[0].rows for cell in cells} == {"none"}


def test_of_one_round_the_intervals_are_said_to_be_of_one_round(tmp_path: Path) -> None:
    one = shown(tmp_path, made_matrix(("api", "batch"), {}, rounds=1))
    assert one.compared.endswith("one round: intervals hold what differs within that round, not from round to round.")
    assert shown(tmp_path, made_matrix(("api", "batch"), {}, rounds=3)).compared == "Windows of 7.9 s, 3 rounds."


@pytest.mark.parametrize(
    ("low", "high", "tone", "interval"),
    [
        (1.0017, 1.0116, "slower", "1.002 to 1.012"),
        (0.9, 0.99999, "faster", "0.90000 to 0.99999"),
        (0.9, 1.2, "unsure", "0.90 to 1.20"),
        (1.0, 1.2, "unsure", "1.00 to 1.20"),
    ],
)
def test_an_interval_never_looks_as_if_it_held_1(low: float, high: float, tone: str, interval: str) -> None:
    read = {"pipeline": "a", "beside": ["b"], "what": "p99", "estimate": 1.005, "low": low, "high": high}
    estimate = SlowdownEstimate.read(Fields(read))
    assert estimate is not None
    cell = HeatCell.of(estimate)
    assert (cell.tone, cell.interval) == (tone, interval)


def test_why_a_cell_has_no_number_is_told(tmp_path: Path) -> None:
    written = made_matrix(("api", "batch"), {})
    written["cells"][0].update(estimate=None, low=None, high=None, reason="fewer than 100 queries in the window")
    page = words(rendered(tmp_path, written))
    assert "api beside batch, throughput: fewer than 100 queries in the window" in page


def test_a_short_overlap_is_warned_of_where_everybody_looks(tmp_path: Path) -> None:
    written = made_matrix(("api", "batch"), {}, rounds=1)
    [run] = [run for run in written["runs"] if run["members"] == ["api", "batch"]]
    run["warnings"] = ["the overlap is short"]
    run["overlap"] = {"begin_t": 0.1, "end_t": 1.1, "share": {"api": 0.125, "batch": 0.116}}
    exhibit = shown(tmp_path, written)
    assert exhibit.warnings == ("api + batch: the overlap is short",)
    detail = exhibit.groups[0].rounds[0]
    assert detail.overlap_words == "All ran together for 1 s: 12.5% of api, 11.6% of batch."


def test_each_pipeline_has_its_own_100_percent_alone_and_beside(tmp_path: Path) -> None:
    api, batch = shown(tmp_path, made_matrix(("api", "batch"), {("api", "batch"): 2.0})).bars
    assert [one.label for one in api.companies] == ["beside batch", "beside its own copy"]
    assert [bar.label for bar in api.companies[0].bars] == ["alone", "beside batch"]
    bars = [bar for one in (*api.companies, *batch.companies) for bar in one.bars]
    assert [sum(part.share for part in bar.parts) for bar in bars] == pytest.approx([1] * 8)
    # Its first stage is as fast as alone, the two others take twice as long: (1 + 2·5) / 6.
    assert api.companies[0].relative == pytest.approx(11 / 6, rel=0.1)
    assert [one.relative for one in batch.companies] == pytest.approx([1, 1], rel=0.1)
    assert max(bar.length for one in batch.companies for bar in one.bars) == 1
    assert api.companies[0].bars[1].basis == "the same 1,400 queries, 15.8 s"


def test_where_no_windows_were_matched_each_side_says_its_own(tmp_path: Path) -> None:
    written = made_matrix(("api", "batch"), {("api", "batch"): 2.0})
    written["contrasts"] = []
    api, _ = shown(tmp_path, written).bars
    alone, together = api.companies[0].bars
    assert alone.basis == "1,600 queries in 2 rounds of about 8 s"
    assert together.basis == "794 queries in 2 rounds of about 7.95 s"
    assert api.companies[0].relative == pytest.approx(11 / 6, rel=0.1)


def test_where_no_whole_query_was_matched_its_calls_are_counted(tmp_path: Path) -> None:
    written = made_matrix(("api", "batch"), {})
    for contrast in written["contrasts"]:
        contrast["alone"]["latency"]["count"] = contrast["together"]["latency"]["count"] = 0
    exhibit = shown(tmp_path, written)
    assert exhibit.groups[0].stages[0].window_beside == "the same 1,400 calls, 15.8 s"
    assert exhibit.bars[0].companies[0].bars[1].basis == "1,590 queries in 2 rounds of about 7.95 s"


def test_more_stages_than_colours_share_a_part(tmp_path: Path) -> None:
    stages = tuple(f"stage {number}" for number in range(12))
    bars = shown(tmp_path, made_matrix(("api", "batch"), {}, rounds=1, stages=stages)).bars
    for bar in bars[0].companies[0].bars:
        assert [part.name for part in bar.parts] == [*(f"stage {number}" for number in range(5, 12)), "5 other stages"]


def test_distributions_of_a_group_share_one_scale(tmp_path: Path) -> None:
    written = made_matrix(("api", "batch"), {("api", "batch"): 30.0}, rounds=1)
    group = shown(tmp_path, written).groups[0]
    assert [part.pipeline for part in group.stages] == ["api", "batch"]
    drawings = [row.drawing for part in group.stages for row in part.rows]
    decades = {re.findall(r'class="decades" d="([^"]+)"', drawing)[0] for drawing in drawings}
    assert len(decades) == 1
    assert all('class="alone"' in drawing and 'class="beside"' in drawing for drawing in drawings)
    model = group.stages[0].rows[2]
    assert model.alone is not None
    assert model.beside is not None
    assert (model.beside.p50_s or 0) / (model.alone.p50_s or 1) == pytest.approx(30, rel=0.1)


def test_decisions_of_a_policy_are_marks_and_words(tmp_path: Path) -> None:
    written = made_together(("api", "batch"), policy="latency_first")
    [detail] = shown(tmp_path, written).groups[0].rounds
    assert detail.line is not None
    api, batch = detail.line.lanes
    assert batch.held == ((2.5, 4.0),)
    assert api.held == ()
    assert [mark.action for mark in batch.marks] == ["pause", "resume"]
    assert detail.lanes.count('class="decision') == 4
    assert detail.lanes.count('class="overlap"') == 1
    page = words(rendered(tmp_path, written))
    assert "4 decisions of the policy" in page
    assert "p99 of 61 ms is over 50 ms" in page
    assert "place cpus 0,1" in page


@pytest.mark.parametrize(
    ("decisions", "held"),
    [
        ([(5.0, "pause", "")], ((5.0, 8.6),)),
        ([(5.0, "pause", ""), (6.0, "pause", ""), (7.0, "resume", "")], ((5.0, 7.0),)),
        ([(5.0, "pause", "nothing ran"), (6.0, "place", "")], ()),
        ([(5.0, "pause", ""), (6.0, "resume", "not now"), (7.0, "resume", "")], ((5.0, 7.0),)),
        ([(0.0, "delay", "")], ((0.0, 0.05),)),
        ([(0.0, "delay", ""), (0.04, "start", "")], ((0.0, 0.04),)),
    ],
)
def test_when_a_pipeline_was_held(
    tmp_path: Path, decisions: list[tuple[float, str, str]], held: tuple[tuple[float, float], ...]
) -> None:
    """Until what let it go on, its own start or its end; what was refused held nothing. It ran from 0.05 to 8.6 s."""
    written = made_together(("api", "batch"), policy="latency_first")
    written["runs"][0]["decisions"] = [
        {"t": t, "pipeline": "batch", "action": action, "value": "", "reason": "", "refused": refused}
        for t, action, refused in decisions
    ]
    [detail] = shown(tmp_path, written).groups[0].rounds
    assert detail.line is not None
    assert detail.line.lanes[1].held == held


def test_what_was_refused_is_said(tmp_path: Path) -> None:
    written = made_together(("api", "batch"), policy="latency_first")
    written["runs"][0]["decisions"][3]["refused"] = "there is no processor 1"
    assert "refused: there is no processor 1" in words(rendered(tmp_path, written))


def test_many_spans_are_joined_and_none_is_lost(tmp_path: Path) -> None:
    written = made_together(("api", "batch"))
    own = written["runs"][0]["pipelines"][0]
    own["lanes"] = [[0, i / 100, i / 100 + 0.004, 1, 0.001] for i in range(800)]
    result = ColocationResult.read(write_colocation(tmp_path, written))
    [detail] = ColocationExhibit.of(result, "", PageLimits(spans=50)).groups[0].rounds
    assert detail.line is not None
    busy = detail.line.lanes[0].stages[0].busy
    assert len(busy) <= 50
    assert (busy[0].begin, busy[-1].end) == (0.0, pytest.approx(7.994))
    assert sum(span.busy_s for span in busy) == pytest.approx(0.8)
    assert detail.lanes.index('class="s0 b0"') < detail.lanes.index('class="s1'), "hardly at work: drawn pale"


@pytest.mark.parametrize(
    ("peak", "bounded", "says", "marks"),
    [
        (300.0, True, "The highest rate found that meets the objectives is 300 queries/s.", (300.0,)),
        (440.0, False, "No rate tried failed: the peak is at least 440 queries/s.", (440.0,)),
        (None, False, "No rate tried meets the objectives.", ()),
    ],
)
def test_the_peak_is_marked(
    tmp_path: Path, peak: float | None, bounded: bool, says: str, marks: tuple[float, ...]
) -> None:
    written = made_rates("api", (50, 100, 300, 440), peak=peak)
    written["rates"]["peak"]["bounded"] = bounded
    curve = shown(tmp_path, written).rates
    assert curve is not None
    assert curve.says == says
    assert [plot.marks for plot in curve.plots] == [marks, marks]
    assert curve.plots[0].x == (50, 100, 300, 440)


def test_of_many_rates_those_that_are_not_drawn_are_counted(tmp_path: Path) -> None:
    exhibit = shown(tmp_path, made_rates("api", tuple(range(10, 460, 10)), peak=300))
    assert (len(exhibit.trials), exhibit.left_out) == (40, ("5 of 45 rates over time",))


def test_without_a_search_the_knee_is_marked(tmp_path: Path) -> None:
    curve = shown(tmp_path, made_rates("api", (50, 100, 200, 400), searched=False)).rates
    assert curve is not None
    assert curve.says.startswith("The knee is at 200 queries/s: ")
    flat = shown(tmp_path, made_rates("api", (10, 20, 30), searched=False)).rates
    assert flat is not None
    assert (flat.says, flat.plots[0].marks) == ("", ())


def test_hostile_names_are_text_and_no_other_host_is_asked(tmp_path: Path) -> None:
    written = made_matrix((HOSTILE, "b"), {(HOSTILE, "b"): 2.0}, rounds=1, stages=("</table><img src=x>", "b"))
    written["runs"][-1]["warnings"] = ["<b>bold</b>"]
    page = rendered(tmp_path, written)
    assert "<script>alert" not in page
    assert "<img" not in page
    assert "<b>bold" not in page
    assert "\x1b" not in page
    addresses = re.findall(r'(?:href|src|action)="([^"]*)"', page)
    assert all(address.startswith("#") for address in addresses)


@pytest.mark.slow
def test_six_pipelines_of_twelve_stages_in_three_rounds_stay_within_500_kb(tmp_path: Path) -> None:
    stages = tuple(f"stage {number}" for number in range(12))
    page = rendered(tmp_path, made_matrix("abcdef", {("a", "b"): 2.0}, rounds=3, stages=stages))
    assert len(page.encode()) <= 500_000
    assert page.count('<details class="entry group"') == 21
    assert "left out or shortened to keep the file small" in page


def test_a_session_shows_the_same_and_says_nothing_twice(tmp_path: Path) -> None:
    folder = colocated(tmp_path, made_matrix(("api", "batch"), {("api", "batch"): 1.6}))
    page = write_report(folder).read_text(encoding="utf-8")
    assert 'id="entry-1-group-1"' in page
    assert 'href="#entry-1-group-1"' in page
    assert "Who slows whom" in page
    assert "Slowdown, by throughput" not in page
    assert page.count("Where the time went") == 1
    plots = json.loads(page.partition('id="plots">')[2].partition("</script>")[0])
    assert len(plots) == page.count('<figure class="plot"')


def test_markdown_has_its_figures_too(tmp_path: Path) -> None:
    text = session_markdown(colocated(tmp_path, made_matrix(("api", "batch"), {("api", "batch"): 1.6})))
    assert "- api is slower beside batch (throughput 1." in text
    assert "| suffers ↓ beside → | api | batch |" in text
    assert re.search(
        r"\| api \| [\d.]+× \([\d.]+ to [\d.]+\), inconclusive \| \*\*1\.[\d]+× \([\d.]+ to [\d.]+\)\*\* \|", text
    )
    assert re.search(
        r"\| api \| beside batch \| [\d.]+ ms \| [\d.]+ ms \| 1\d\d% \| the same 1,400 queries, 15.8 s \|", text
    )


def test_a_file_that_cannot_be_read_is_said_and_the_figures_stay(tmp_path: Path) -> None:
    page = write_report(colocated(tmp_path, {"version": 1})).read_text(encoding="utf-8")
    assert (
        "colocation.json is not shown: it has version 1, and a page is made of version 2: run the colocation again"
        in page
    )
    assert str(tmp_path) not in words(page).partition("Command")[0]
    assert "Slowdown, by throughput" in page


def test_a_run_cannot_show_a_file_from_elsewhere(tmp_path: Path) -> None:
    write_colocation(tmp_path / "elsewhere", made_together(("secret", "other")))
    folder = colocated(tmp_path, made_together(("api", "batch")))
    results = folder.path / "pipelines" / "benchmark_results"
    (results / "colocation.json").unlink()
    results.rmdir()
    results.symlink_to(tmp_path / "elsewhere")
    assert "secret" not in write_report(folder).read_text(encoding="utf-8")


def colocated(results: Path, written: Any) -> SessionFolder:
    name = "slowdown.api.beside.batch.throughput"
    metrics = {name: 1.6, f"{name}.low": 1.5, f"{name}.high": 1.7, "api.throughput": 90.0}
    tasks = tuple(TaskPerf(f"{one}/model", {"process_time": 0.1}) for one in ("api", "batch"))
    folder = make_session(results / "results", [MadeRun("pipelines", metrics, tasks=tasks)])
    write_colocation(folder.path / "pipelines" / "benchmark_results", written)
    return folder


def test_the_command_writes_it_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_colocation(tmp_path / "run", made_together(("api", "batch")))
    assert main(["report", str(tmp_path / "run")]) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'run' / 'report.html'}\n"
    assert "api + batch" in (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert main(["report", str(tmp_path / "run"), "--format", "markdown"]) == 2
    assert "its report is HTML and is compared with nothing" in capsys.readouterr().err
    (tmp_path / "run" / "colocation.json").write_text("[]")
    assert main(["report", str(tmp_path / "run")]) == 2
    assert "holds a list, not what `assay colocate` writes" in capsys.readouterr().err


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.just(10**400) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=5,
)
SMALL = [
    made_matrix(("a", "b"), {("a", "b"): 1.5}, rounds=1, stages=("load", "model")),
    made_together(("a", "b"), policy="latency_first", stages=("load",)),
    made_rates("a", (50, 100, 200), peak=100),
]


@pytest.mark.slow
@settings(
    max_examples=int(os.environ.get("ASSAY_EXAMPLES", "40")),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(data=st.data())
def test_whatever_is_in_the_file_the_page_is_written_or_says_why(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    written = copy.deepcopy(data.draw(st.sampled_from(SMALL)))
    for _ in range(data.draw(st.integers(1, 4))):
        at, place = written, None
        for _ in range(data.draw(st.integers(1, 7))):
            keys = list(at) if isinstance(at, dict) else list(range(len(at))) if isinstance(at, list) else []
            if not keys:
                break
            place = (at, data.draw(st.sampled_from(keys)))
            at = at[place[1]]
        if place is not None:
            place[0][place[1]] = data.draw(VALUES)
    folder = tmp_path_factory.mktemp("any")
    (folder / "colocation.json").write_text(json.dumps(written), encoding="utf-8", errors="surrogatepass")
    try:
        page = render_colocation(folder)
    except DataError:
        return
    assert page.endswith("</html>")
