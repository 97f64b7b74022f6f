from __future__ import annotations

from collections.abc import Iterator

from assay.analysis.insights.insight import EntryRuns, Insight

NEAR = 0.9
"""Of what the entropy of the data allows."""


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
        hits = entry.share(f"{name}dedup_hit_rate")
        deltas = entry.share(f"{name}delta_share")
        advice = "try a smaller setting of the store, or clustering, which finds a better base for each tensor"
        if deltas is not None and deltas < 0.5:
            advice = f"only {deltas:.0%} of the tensors are kept as a difference: raise what counts as similar"
        elif hits == 0:
            advice += "; nothing is a duplicate here, so deduplication cannot help"
        yield Insight(
            "compression", entry.name, f"{stem} stays below what its data allows", evidence, advice,
            numbers={"of_limit": share},
        )  # fmt: skip
    for name, wrong in entry.ending("wrong_tensors"):
        if wrong > 0:
            yield Insight(
                "accuracy", entry.name, f"{name.rstrip('._')} did not give back every tensor", f"{wrong:g} wrong",
                "do not trust this store with weights until that is found", 2, {"wrong": wrong},
            )  # fmt: skip
