"""Figures of one load as metrics, under the names that docs/serving.md explains."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from assay.loadgen.measured import Ints
from assay.loadgen.serving.measured.delivered_load import LEAST_SHARE
from assay.loadgen.serving.measured.load_point import LoadPoint
from assay.loadgen.serving.measured.quantile import SHARES, quantiles
from assay.loadgen.serving.measured.quantities import QUANTITIES
from assay.record.metric import Metric


def point_metrics(point: LoadPoint) -> list[Metric]:
    """Times are left out where they would not be the server's own: it is saturated, or nothing was answered."""
    metrics = [*_rates(point), *_counts(point), *_delivery(point)]
    if point.saturation is None:
        for quantity in QUANTITIES:
            metrics += _times(quantity, point.times.values(quantity))
    return metrics


def _times(quantity: str, values: Ints) -> Iterator[Metric]:
    if not len(values):
        return
    for name, value in zip(SHARES, quantiles(values, list(SHARES.values())), strict=True):
        yield Metric(f"{quantity}_{name}", value / 1e9, "s", "lower")
    yield Metric(f"{quantity}_mean", float(np.mean(values)) / 1e9, "s", "lower")


def _rates(point: LoadPoint) -> Iterator[Metric]:
    seconds, times = point.duration_s, point.times
    if not seconds:
        return
    output = np.maximum(times.output_tokens, 0)
    tokens_in = np.maximum(point.tokens.input, 0)
    yield Metric("requests_per_s", point.answered / seconds, "1/s", "higher")
    yield Metric("goodput_requests_per_s", int(point.met.sum()) / seconds, "1/s", "higher")
    if output[times.good].any():
        yield Metric("output_tokens_per_s", int(output[times.good].sum()) / seconds, "1/s", "higher")
        yield Metric("goodput_tokens_per_s", int(output[point.met].sum()) / seconds, "1/s", "higher")
        if point.saturation is None:
            spent = times.per_request["latency_s"][times.good] / 1e9
            speed = float(np.median(output[times.good] / np.maximum(spent, 1e-9)))
            yield Metric("output_tokens_per_s_per_user", speed, "1/s", "higher")
    if tokens_in[times.good].any():
        yield Metric("input_tokens_per_s", int(tokens_in[times.good].sum()) / seconds, "1/s", "higher")


def _counts(point: LoadPoint) -> Iterator[Metric]:
    total = len(point.replies.failures)
    yield Metric("requests", total)
    yield Metric("answered", point.answered, better="higher")
    yield Metric("errors", point.error_count, better="lower")
    yield Metric("error_share", point.error_count / total if total else 0.0, better="lower")
    for kind, count in point.errors.items():
        yield Metric(f"errors_{kind}", count, better="lower")
    cancelled = sum(kind == "cancelled" for kind in point.replies.failures)
    if cancelled:
        yield Metric("cancelled", cancelled)
    good, tokens = point.times.good, point.tokens
    for name, counts in (
        ("input_tokens", tokens.usage_input),
        ("output_tokens", tokens.usage_output),
        ("input_tokens_by_tokenizer", tokens.tokenizer_input),
        ("output_tokens_by_tokenizer", tokens.tokenizer_output),
    ):
        told = counts[good & (counts >= 0)]
        if len(told):
            yield Metric(name, int(told.sum()))
    yield Metric("counted_by", tokens.source)
    yield Metric("duration_s", point.duration_s, "s")
    yield Metric("objectives_met", point.objectives_met)


def _delivery(point: LoadPoint) -> Iterator[Metric]:
    load = point.delivered
    if point.asked.rate is not None:
        yield Metric("asked_rate", point.asked.rate, "1/s")
    yield Metric("sent_per_s", load.rate, "1/s")
    yield Metric("in_flight_mean", load.in_flight)
    yield Metric("delivered_share", load.share, better="higher")
    yield Metric("held_back", load.held_back)
    yield Metric("lateness_s_p50", load.lateness_p50 / 1e9, "s", "lower")
    yield Metric("lateness_s_p99", load.lateness_p99 / 1e9, "s", "lower")
    yield Metric("client_cpu_share", point.cpu_share, better="lower")
    yield Metric("client_bottleneck", bool(point.verdict.client_bottleneck))
    yield Metric("load_delivered", load.share >= LEAST_SHARE)
    yield Metric("saturated", point.saturation is not None)
