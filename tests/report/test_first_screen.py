"""What a report begins with: one sentence, then a card for all that a person has to look at."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from many_nights import Nights, fifty_entries, two_entries
from session_factory import MadeRun, make_session

from assay.analysis import Comparison, Row, Verdict, what_changed
from assay.history import History
from assay.record import Outcome
from assay.report.first_screen import MOST_CARDS
from assay.report.html import render_report
from assay.report.run_folder import PageLimits
from assay.report.session_page import SessionPage
from assay.report.trends import Earlier


def first_screen(
    results: Path, runs: list[MadeRun], changes: Comparison | None = None, **options: object
) -> SessionPage:
    return SessionPage.of(make_session(results, runs, **options), changes, PageLimits())  # type: ignore[arg-type]


def compared(*rows: tuple[str, Verdict]) -> Comparison:
    told = (Row(entry, "time_s", verdict, "", better="lower", base=1.0, head=1.2, ratio=1.2) for entry, verdict in rows)
    return Comparison("before", "now", tuple(told))


def failed(name: str, outcome: Outcome = Outcome.FAILED) -> MadeRun:
    return MadeRun(name, outcome=outcome, reasons=("exited with code 3",), log="".join(f"line {n}\n" for n in range(9)))


SENTENCES = [
    ([MadeRun("a")], None, "neutral", "The entry passed; nothing earlier to compare with."),
    ([MadeRun("a"), MadeRun("b")], compared(), "neutral", "All 2 entries passed; nothing earlier to compare with."),
    (
        [MadeRun("a"), MadeRun("b")],
        compared(("a", Verdict.NOT_COMPARABLE)),
        "neutral",
        "All 2 entries passed; nothing could be compared.",
    ),
    ([MadeRun("a")], compared(("a", Verdict.EQUIVALENT)), "good", "The entry passed; no regression found."),
    (
        [MadeRun("a"), MadeRun("b")],
        compared(("a", Verdict.IMPROVED), ("b", Verdict.INCONCLUSIVE)),
        "good",
        "All 2 entries passed; no regression found, 1 improved (1 metric inconclusive).",
    ),
    ([MadeRun("a"), MadeRun("b")], compared(("a", Verdict.REGRESSED)), "bad", "1 entry regressed; 1 fine."),
    ([failed("a"), failed("b", Outcome.TIMEOUT), MadeRun("c")], None, "bad", "2 entries failed; 1 fine."),
    (
        [failed("a"), failed("b", Outcome.MISSED), failed("c", Outcome.SKIPPED), MadeRun("d")],
        compared(("b", Verdict.REGRESSED)),
        "bad",
        "1 entry failed, 1 missed a requirement, 1 skipped, 1 regressed; 1 fine.",
    ),
]


@pytest.mark.parametrize(("runs", "changes", "tone", "says"), SENTENCES)
def test_one_sentence_and_its_colour(
    tmp_path: Path, runs: list[MadeRun], changes: Comparison | None, tone: str, says: str
) -> None:
    band = first_screen(tmp_path, runs, changes).first.band
    assert (band.tone, band.says) == (tone, says)


def test_a_session_that_goes_on_is_neither_good_nor_bad(tmp_path: Path) -> None:
    page = first_screen(tmp_path / "a", [MadeRun("a")], planned=("a", "b"), finished=False)
    assert (page.first.band.tone, page.first.band.says) == ("warn", "1 of 2 entries has run; all passed.")
    page = first_screen(tmp_path / "b", [failed("a")], planned=("a", "b"), finished=False)
    assert (page.first.band.tone, page.first.band.says) == ("bad", "1 entry failed; 1 not run.")


def test_a_failure_has_its_reason_and_the_last_five_lines(tmp_path: Path) -> None:
    [card] = first_screen(tmp_path, [failed("a"), MadeRun("b")]).first.failures
    assert card.reasons == ("exited with code 3",)
    assert card.log.splitlines() == [f"line {n}" for n in range(4, 9)]


def test_what_a_program_printed_does_not_explain_a_requirement(tmp_path: Path) -> None:
    [card] = first_screen(tmp_path, [failed("a", Outcome.MISSED)]).first.failures
    assert card.log == ""


def test_some_of_its_runs_failed(tmp_path: Path) -> None:
    runs = [MadeRun("a", repeat=1, repeats=2), MadeRun("a", outcome=Outcome.CRASHED, repeat=2, repeats=2)]
    [card] = first_screen(tmp_path, runs).first.failures
    assert card.runs == "in 1 of 2 runs"


def test_what_was_skipped_needs_no_card(tmp_path: Path) -> None:
    first = first_screen(tmp_path, [failed("a"), failed("b", Outcome.SKIPPED)]).first
    assert [card.page.view.name for card in first.failures] == ["a"]
    assert [page.view.name for page in first.skipped] == ["b"]


def test_many_failures_are_named_without_a_card_each(tmp_path: Path) -> None:
    runs = [failed(f"e{n:02d}") for n in range(MOST_CARDS + 3)]
    page = first_screen(tmp_path, runs)
    assert len(page.first.failures) == MOST_CARDS
    assert [entry.view.name for entry in page.first.more_failures] == [
        f"e{n:02d}" for n in range(MOST_CARDS, len(runs))
    ]
    assert page.first.band.says == f"{len(runs)} entries failed."


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Nights:
    return two_entries(tmp_path_factory.mktemp("two"))


@pytest.fixture
def shown(two: Nights) -> Iterator[SessionPage]:
    with History.beside(two.history) as history:
        records = two.folder.records()
        changes = what_changed(records, history)
        yield SessionPage.of(two.folder, changes, PageLimits(), Earlier(records, history))


def test_a_regression_shows_its_own_metric_first_and_what_moved_with_it(shown: SessionPage) -> None:
    [card] = shown.first.regressions
    assert (card.row.entry, card.row.metric) == ("alm_xenna", "rows_per_s")
    assert {row.metric for row in card.others} == {"exec_time_s", "usage.cpu_s"}


def test_a_regression_is_drawn_before_and_now_and_over_the_last_sessions(shown: SessionPage) -> None:
    [card] = shown.first.regressions
    assert (card.moved.before, card.moved.now) == ("6 runs", "6 runs")
    assert card.moved.overlay.count('class="before') == card.moved.overlay.count('class="now') == 3
    assert 'class="step"' in card.moved.spark
    assert "last 30 sessions" in card.moved.spark


def test_a_regression_says_since_when(shown: SessionPage) -> None:
    [card] = shown.first.regressions
    assert card.since.words == "since nightly-run__2026-02-28__02-00-00; commit 2d2d2d2d2d → 3f2a91c000"
    [failure] = shown.first.failures
    assert failure.since.words == "last passed in nightly-run__2026-02-28__02-00-00; commit 2d2d2d2d2d → 3f2a91c000"


def test_the_page_begins_with_the_answer_then_the_cards_then_the_rest(two: Nights) -> None:
    with History.beside(two.history) as history:
        text = render_report(two.folder, history=history)
    places = [
        text.index(part)
        for part in (
            "1 entry failed, 1 regressed.", "FileNotFoundError: ids-to-remove", "Also different: kernel 6.1.0 → 6.1.1",
            'id="changed"', 'id="entries"', 'id="environment"',
        )
    ]  # fmt: skip
    assert places == sorted(places)
    assert re.search(r"<title>✕ ", text)


@pytest.mark.slow
def test_fifty_entries_with_a_month_behind_them_begin_the_same_and_stay_within_500_kb(tmp_path: Path) -> None:
    nights = fifty_entries(tmp_path)
    with History.beside(nights.history) as history:
        text = render_report(nights.folder, history=history)
    assert len(text.encode()) <= 500_000
    assert "2 entries failed, 1 missed a requirement, 2 regressed; 45 fine." in text
    assert text.count('<article class="card') == 5
    assert text.count('<svg class="spark"') >= 50
