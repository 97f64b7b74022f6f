"""A load in the terminal, within 80 columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap

from assay.loadgen.serving.load_point import LoadPoint
from assay.loadgen.serving.request_metrics import SHARES, quantiles
from assay.loadgen.serving.result_files import RateCurve

_WIDTH = 79
_NAMES = {
    "ttft_s": "to first token",
    "first_output_token_s": "to first output",
    "chunk_gap_s": "between chunks",
    "token_gap_s": "between tokens",
    "tpot_s": "per output token",
    "latency_s": "whole answer",
}


def point_text(point: LoadPoint) -> str:
    return "\n".join(_lines(point))


def _lines(point: LoadPoint) -> Iterator[str]:
    load, seconds = point.delivered, point.duration_s or 1.0
    shown = f"{load.rate:.4g}/s" if point.asked.loop == "open" else f"{load.in_flight:.4g} in flight"
    yield f"  asked      {point.asked.words}"
    late = f"{_time(load.lateness_p50)} late at p50, {_time(load.lateness_p99)} at p99"
    yield f"  delivered  {shown} ({load.share:.1%}), sent {late}"
    tokens = int(point.times.output_tokens[point.times.good].clip(0).sum()) / seconds
    yield f"  answered   {point.answered} requests, {point.answered / seconds:.4g}/s" + (
        f", {tokens:.4g} tokens/s" if tokens else ""
    )
    if point.asked.objectives:
        met = int(point.met.sum())
        yield f"  goodput    {met / seconds:.4g} requests/s: {met} of {len(point.replies.failures)} met all objectives"
    errors = ", ".join(f"{count} {kind}" for kind, count in point.errors.items())
    yield f"  errors     {point.error_count}" + (f" ({errors})" if errors else "")
    processes = f"{point.asked.processes} processes " if point.asked.processes > 1 else ""
    yield f"  client     {processes}used {point.cpu_share:.1%} of a core" + (
        f"; alone it gets through {point.ceiling:.4g} requests/s here" if point.ceiling else ""
    )
    yield from _table(point)
    for result in point.objectives:
        sure = "" if result.sure or not result.met else " (too few requests to be sure)"
        said = f"{'✓' if result.met else '✗'} {result.objective.words if result.met else result.reason}{sure}"
        yield from wrap(said, _WIDTH, initial_indent="  ", subsequent_indent="    ")
    for words in [*point.verdict.reasons, *point.notes, *point.exchanges.notes]:
        yield from wrap(f"! {words}", _WIDTH, initial_indent="  ", subsequent_indent="    ")


def _table(point: LoadPoint) -> Iterator[str]:
    if point.saturation is not None or not point.answered:
        return
    yield ""
    yield f"  {'from the intended time':<22}" + "".join(f"{name:>11}" for name in SHARES)
    for quantity, name in _NAMES.items():
        values = point.times.values(quantity)
        if not len(values) or (quantity == "first_output_token_s" and _same_as_first(point)):
            continue
        marks = quantiles(values, list(SHARES.values()))
        yield f"  {name:<22}" + "".join(f"{_time(mark):>11}" for mark in marks)
    marks = quantiles(point.times.values("latency_s_from_send"), list(SHARES.values()))
    yield f"  {'whole, from the send':<22}" + "".join(f"{_time(mark):>11}" for mark in marks)


def _same_as_first(point: LoadPoint) -> bool:
    """Whether no answer reasons before it speaks: then one row says both."""
    return bool((point.times.per_request["ttft_s"] == point.times.per_request["first_output_token_s"]).all())


def curve_text(points: Sequence[LoadPoint], curve: RateCurve) -> str:
    lines = [f"  {'rate':>9} {'delivered':>10} {'answered/s':>11} {'goodput/s':>10} {'ttft p95':>10} {'p99':>10}  kept"]
    for point, valid in zip(points, curve.valid, strict=True):
        first = quantiles(point.times.values("ttft_s"), [0.95])[0]
        whole = quantiles(point.times.values("latency_s"), [0.99])[0]
        blurred = point.saturation is not None
        lines.append(
            f"  {point.asked.rate or 0:>9.4g} {point.delivered.share:>10.1%} "
            f"{point.answered / (point.duration_s or 1):>11.4g} {point.met.sum() / (point.duration_s or 1):>10.4g} "
            f"{'–' if blurred else _time(first):>10} {'–' if blurred else _time(whole):>10}  "
            f"{'yes' if valid else 'saturated' if blurred else 'no'}"
        )
    if curve.sought and curve.peak_rate is None:
        lines.append("  no rate that was tried meets the objectives")
    elif curve.sought:
        more = "" if curve.peak_bounded else "; no higher rate failed, so it may be higher still"
        lines.append(f"  highest rate that meets the objectives, twice: {curve.peak_rate:.4g}/s{more}")
    return "\n".join(lines)


def _time(ns: float) -> str:
    if ns != ns:
        return "–"
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if abs(ns) >= size:
            return f"{ns / size:.3g} {unit}"
    return f"{ns:.0f} ns"
