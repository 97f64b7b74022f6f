from __future__ import annotations

import pytest

from assay.analysis import Insight
from assay.report.insight_groups import insight_groups, merge_sentences


def insight(entry: str, says: str, advice: str = "look", severity: int = 1) -> Insight:
    return Insight("measurement", entry, says, f"evidence of {entry}", advice, severity)


def test_what_is_said_of_many_entries_is_one_sentence() -> None:
    found = insight_groups(insight(f"e{n}", f"{n % 3 + 1} of 6 runs were not alone on the machine") for n in range(28))
    [group] = found
    assert (group.who, group.says) == ("28 entries", "1–3 of 6 runs were not alone on the machine")
    assert group.entries == tuple(f"e{n}" for n in range(28))
    assert group.evidence == ""


def test_one_keeps_its_own_words() -> None:
    [group] = insight_groups([insight("a", "rows_per_s varies by 12% from run to run")])
    assert (group.who, group.says, group.evidence) == (
        "a", "rows_per_s varies by 12% from run to run", "evidence of a",
    )  # fmt: skip


def test_other_metrics_are_the_same_sentence() -> None:
    found = [insight("a", "x_s: 2 of 20 values stand far apart"), insight("b", "y_s: 5 of 20 values stand far apart")]
    found.append(insight("b", "z_s: 3 of 20 values stand far apart"))
    [group] = insight_groups(found)
    assert (group.who, group.says) == ("2 entries", "x_s, y_s and 1 more metric: 2–5 of 20 values stand far apart")


def test_a_metric_is_told_by_how_it_is_spelt() -> None:
    found = [insight("a", f"x.{store}.float32 stays below what its data allows") for store in ("zstd", "gzip", "plain")]
    [group] = insight_groups(found)
    assert group.says == "x.zstd.float32, x.gzip.float32 and 1 more metric: stays below what its data allows"


def test_a_name_may_have_a_space_in_it() -> None:
    found = [insight("a", f"size.x.{n} models.commit_speed: {n} of 5 values stand far apart") for n in (1, 4)]
    [group] = insight_groups(found)
    assert group.says == (
        "size.x.1 models.commit_speed and size.x.4 models.commit_speed: 1–4 of 5 values stand far apart"
    )


def test_numbers_in_names_are_no_ranges() -> None:
    found = [insight("a", "stage read_1 takes 60% of the time"), insight("b", "stage read_2 takes 70% of the time")]
    assert [group.says for group in insight_groups(found)] == [one.says for one in found]


def test_other_advice_is_another_sentence() -> None:
    assert len(insight_groups([insight("a", "x"), insight("b", "x", advice="do not look")])) == 2


def test_the_gravest_first_then_what_most_have() -> None:
    found = [insight("a", "little", severity=0), *(insight(f"e{n}", "common") for n in range(3)), insight("a", "rare")]
    found.append(insight("b", "grave", severity=2))
    assert [group.says for group in insight_groups(found)] == ["grave", "common", "rare", "little"]


@pytest.mark.parametrize(
    ("sentences", "said"),
    [
        (["12%", "9.5%"], "9.5–12%"),
        (["p99_ms is 3", "p99_ms is 3"], "p99_ms is 3"),
        (["1e-05 of 2", "1e-05 of 4"], "1e-05 of 2–4"),
        (["no number"], "no number"),
    ],
)
def test_ranges(sentences: list[str], said: str) -> None:
    assert merge_sentences(sentences) == said
