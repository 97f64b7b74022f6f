from __future__ import annotations

from assay.analysis.serving.load_series import LoadSeries
from assay.report.exhibits.plot import Plot

_LEAST_SLOTS = 3
_MOST_MARKS = 60


def load_plots(series: LoadSeries | None) -> tuple[Plot, ...]:
    """Requests in flight, throughput, tokens and errors, slot by slot. Slots with errors are marked in all of them."""
    if series is None or series.slots < _LEAST_SLOTS:
        return ()
    x = tuple(float(f"{(at + 0.5) * series.slot_s:.6g}") for at in range(series.slots))
    failed = [sum(values[at] or 0 for _, values in series.errors if at < len(values)) for at in range(series.slots)]
    marks = tuple(x[at] for at, count in enumerate(failed) if count)[:_MOST_MARKS]
    says = "errors where it is dashed" if marks else ""
    flow = (("answered", series.requests_per_s), ("sent", series.sent_per_s))
    plots = [
        Plot("In flight", "requests", x, (("in flight", series.in_flight),), says, marks=marks),
        Plot("Requests", "1/s", x, flow, says, marks=marks),
    ]
    if any(series.output_tokens_per_s):
        tokens = (("tokens", series.output_tokens_per_s),)
        plots.append(Plot("Output tokens", "1/s", x, tokens, says, marks=marks))
    if any(failed):
        kinds = tuple((kind, values) for kind, values in series.errors if any(values))
        plots.append(Plot("Errors", f"in {series.slot_s:g} s", x, kinds, ""))
    return tuple(plots)
