from __future__ import annotations

from collections.abc import Iterator

from assay.analysis.insights.insight import EntryRuns, Insight
from assay.analysis.sentences import insight_sentences as said

NEAR = 0.9
"""Share of the compression that the entropy of the data allows; from here on nothing is said."""
OURS = "assay-"
"""How the names of our own store begin; the word after it is its setting."""
SMALLEST = "assay-small"


def compression(entry: EntryRuns) -> Iterator[Insight]:
    for name, _ in entry.ending("of_limit"):
        stem = name.rstrip("._") or entry.name
        share = entry.share(f"{name}of_limit")
        if share is None or not 0 < share < NEAR:
            continue
        ratio, limit = (entry.number(f"{name}{metric}") for metric in ("compression_ratio", "limit_ratio"))
        advice = _advice(entry, name)
        yield Insight(
            "compression", entry.name, *said.below_the_limit(stem, share, ratio, limit, advice),
            1 if advice else 0, {"of_limit": share},
        )  # fmt: skip
    for name, wrong in entry.ending("wrong_tensors"):
        if wrong > 0:
            yield Insight(
                "accuracy", entry.name, *said.wrong_tensors(name.rstrip("._"), wrong), 2, {"wrong": wrong},
            )  # fmt: skip


def _advice(entry: EntryRuns, name: str) -> str:
    """Advice for our own store only: what would make another one smaller is not known here."""
    store = next((part for part in name.split(".") if part.startswith(OURS)), None)
    if store is None:
        return ""
    deltas = entry.share(f"{name}delta_share")
    if deltas is not None and deltas < 0.5:
        return said.few_differences(store, deltas)
    return said.smaller_setting(store, "" if store == SMALLEST else SMALLEST.removeprefix(OURS))
