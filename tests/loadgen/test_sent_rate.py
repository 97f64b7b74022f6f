"""A rate that the generator could not send is no rate that a pipeline kept."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from made_runs import MS, group, one_after_the_other, pipeline

from assay.loadgen.colocation.colocation import ColocatedRun
from assay.loadgen.colocation.rate_search import RatedRun, SentRate
from assay.loadgen.driver.ending import How
from assay.loadgen.load_result import LoadResult, Measured


def sent_late(late_ms: np.ndarray) -> LoadResult:
    """A query every 10 ms, each sent so much later; answered at once."""
    made = pipeline("api", [(10.0 * (n + 1), 10.0 * (n + 1)) for n in range(len(late_ms))], open_loop=True).result
    rows = made.measured.rows.copy()
    rows["start"] = rows["intended"] + np.round(late_ms * MS).astype(np.int64)
    rows["end"] = rows["start"] + MS
    return replace(made, measured=Measured(rows))


@pytest.mark.parametrize(
    ("late", "sent"),
    [
        (np.zeros(200), 100.0),
        (np.linspace(0, 2000, 200), 51.3),
        (np.linspace(0, 80, 200), 96.3),
    ],
)
def test_the_rate_that_was_sent(late: np.ndarray, sent: float) -> None:
    found = SentRate.of(sent_late(late))
    assert found.offered == pytest.approx(100.0)
    assert found.sent == pytest.approx(sent, rel=0.005)
    assert bool(found.problem) is (sent < 95)


def test_one_late_send_at_the_end_is_no_rate() -> None:
    late = np.zeros(200)
    late[-1] = 500
    assert SentRate.of(sent_late(late)).problem == ""


def test_what_was_not_sent_is_said_with_both_rates() -> None:
    assert SentRate.of(sent_late(np.linspace(0, 2000, 200))).problem == (
        "the rate was not sent: 51.22 queries/s of 100 in the schedule (at least 95% must be)"
    )
    assert "too few" in SentRate.of(pipeline("a", []).result).problem


def test_a_trial_counts_only_if_it_was_sent_and_all_ended_well() -> None:
    api, sender = pipeline("api", one_after_the_other([1.0] * 100)), SentRate(100.0, 60.0)

    def rated(sent: SentRate, how: How = How.FINISHED) -> RatedRun:
        other = pipeline("b", [(0.0, 1.0)], how=how)
        return RatedRun(ColocatedRun("rate-1", group(api, other)), api, sent)

    assert rated(SentRate(100.0, 99.0)).valid
    assert not rated(sender).valid, "met its objectives, but at another rate"
    assert rated(sender).reasons == [sender.problem]
    assert rated(SentRate(100.0, 99.0), How.KILLED).reasons == ["b, beside it, did not end well: it broke"]
