from __future__ import annotations

from assay.loadgen.colocation.rates.rates_tried import RatesTried
from assay.loadgen.colocation.tables.text_table import duration, table


def rate_text(search: RatesTried) -> str:
    rows = []
    for trial in search.trials:
        result, sent = trial.outcome.pipeline.result, trial.outcome.sent
        rates = [f"{trial.rate:g}", f"{sent.sent:.1f}", f"{result.throughput:.1f}", f"{result.verdict.goodput:.1f}"]
        times = [duration(result.latency[name]) for name in ("p50", "p90", "p99", "p99.9")]
        rows.append([*rates, *times, "VALID" if trial.valid else "INVALID"])
    shown = table(["rate", "sent/s", "done/s", "good/s", "p50", "p90", "p99", "p99.9", "verdict"], rows)
    reasons = [f"  {trial.rate:g}: {reason}" for trial in search.trials for reason in trial.outcome.reasons]
    return "\n".join([shown, *reasons, *_peak(search)])


def _peak(search: RatesTried) -> list[str]:
    if search.peak is None:
        return []
    if search.peak.rate is None:
        return ["", f"{search.pipeline}: no rate tried meets the objectives"]
    words = "peak" if search.peak.bounded else "no rate tried failed; at least"
    return ["", f"{search.pipeline}: {words} {search.peak.rate:g} queries/s"]
