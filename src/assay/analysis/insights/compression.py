from __future__ import annotations

from collections.abc import Iterator

from assay.analysis.insights.insight import EntryRuns, Insight

NEAR = 0.9
"""Of what the entropy of the data allows."""
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
        evidence = f"{share:.0%} of the limit"
        if ratio is not None and limit is not None:
            evidence += f": {ratio:.2f} times where {limit:.2f} is possible"
        advice = _advice(entry, name)
        yield Insight(
            "compression", entry.name, f"{stem} stays below what its data allows", evidence, advice,
            1 if advice else 0, {"of_limit": share},
        )  # fmt: skip
    for name, wrong in entry.ending("wrong_tensors"):
        if wrong > 0:
            yield Insight(
                "accuracy", entry.name, f"{name.rstrip('._')} did not give back every tensor", f"{wrong:g} wrong",
                "do not trust this store with weights until that is found", 2, {"wrong": wrong},
            )  # fmt: skip


def _advice(entry: EntryRuns, name: str) -> str:
    """For our own store alone: what would make another one smaller is not known here."""
    store = next((part for part in name.split(".") if part.startswith(OURS)), None)
    if store is None:
        return ""
    deltas = entry.share(f"{name}delta_share")
    if deltas is not None and deltas < 0.5:
        return (
            f"only {deltas:.0%} of the tensors in {store} are kept as a difference: where versions resemble each "
            "other, lower its similarity_threshold, so that more counts as similar"
        )
    clustering = "clustering (clustering_strategy), which may find a better base for each tensor"
    smaller = "" if store == SMALLEST else f"the setting {SMALLEST.removeprefix(OURS)} in place of {store}, or "
    return f"try {smaller}{clustering}"
