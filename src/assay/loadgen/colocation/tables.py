from __future__ import annotations

from collections.abc import Sequence

from assay.loadgen.colocation.colocation import Group, GroupOutcome, Matrix, PipelineOutcome, neighbours
from assay.loadgen.colocation.devices import GpuUsage
from assay.loadgen.colocation.overlap import Overlap
from assay.loadgen.colocation.policy_run import policy_text
from assay.loadgen.colocation.rate_search import RatesTried
from assay.loadgen.colocation.result_files import stage_window, window_json
from assay.loadgen.colocation.slowdown import Contrast, Slowdown, What
from assay.loadgen.latency import Latency
from assay.record.metric import Metric


def figure_lines(outcome: GroupOutcome) -> str:
    """What stages say of their own work, a stage a line; empty where none says anything."""
    lines = [
        f"  {p.config.name}, {id} {p.result.stages[id].name}: {', '.join(map(_format_metric, report.metrics))}"
        for p in outcome.pipelines
        for id, report in p.result.reports.items()
        if report.metrics
    ]
    return "\n".join(["what stages say of their own work", *lines]) if lines else ""


def _format_metric(metric: Metric) -> str:
    value = f"{metric.value:.4g}" if isinstance(metric.value, float) else str(metric.value)
    return f"{metric.name} {value}"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    widths = [max(len(row[n]) for row in [head, *rows]) for n in range(len(head))]

    def line(cells: Sequence[str]) -> str:
        first, *rest = (
            cell.ljust(w) if n == 0 else cell.rjust(w) for n, (cell, w) in enumerate(zip(cells, widths, strict=True))
        )
        return "  ".join([first, *rest]).rstrip()

    return "\n".join([line(head), "  ".join("-" * width for width in widths), *(line(row) for row in rows)])


def duration(ns: float) -> str:
    if ns != ns:
        return "–"
    for size, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "µs")):
        if ns >= size:
            return f"{ns / size:.3g} {unit}"
    return f"{ns:.0f} ns"


def run_text(outcome: GroupOutcome) -> str:
    """One run: what it did while all ran together, its stages over the same time, and the whole run."""
    overlap = Overlap(outcome)
    parts = [f"{group_table(outcome)}\n\n{stage_table(outcome)}"]
    if len(outcome.pipelines) > 1:
        shares = ", ".join(f"{overlap.share(p):.0%} of {p.config.name}'s run" for p in outcome.pipelines)
        parts = [f"while all ran together ({overlap.seconds:.3g} s: {shares})\n{window_table(outcome)}"]
        if overlap.seconds > 0:
            parts.append(f"stages, in the same {overlap.seconds:.3g} s\n{stage_table(outcome)}")
        parts.append(f"each pipeline's whole run\n{group_table(outcome)}")
    parts += [figure_lines(outcome), *(f"warning: {warning}" for warning in overlap.warnings), policy_text(outcome)]
    return "\n\n".join(filter(None, parts))


def group_table(outcome: GroupOutcome) -> str:
    """A table of each pipeline's whole run."""
    head = [
        "pipeline",
        "asked/s",
        "sent/s",
        "done/s",
        "good/s",
        "p50",
        "p99",
        "p99.9",
        "late p50",
        "CPU s",
        "MB",
        "verdict",
    ]
    rows = []
    for pipeline in outcome.pipelines:
        result = pipeline.result
        rows.append(
            [
                pipeline.config.name,
                "–" if result.asked_rate is None else f"{result.asked_rate:g}",
                f"{result.achieved_rate:.1f}",
                f"{result.throughput:.1f}",
                f"{result.verdict.goodput:.1f}",
                duration(result.latency["p50"]),
                duration(result.latency["p99"]),
                duration(result.latency["p99.9"]),
                duration(result.lateness["p50"]),
                f"{pipeline.cpu_s:.2f}",
                f"{pipeline.peak_rss_mb:.0f}",
                "VALID" if result.verdict.valid else "INVALID",
            ]
        )
    notes = [f"  {p.config.name}: {note}" for p in outcome.pipelines for note in _notes(p)]
    return "\n".join([table(head, rows), *notes])


def _notes(pipeline: PipelineOutcome) -> list[str]:
    result = pipeline.result
    streamed = []
    if result.first_result is not None and result.per_item is not None:
        first, gap = result.first_result, result.per_item
        words = [f"first result p50 {duration(first['p50'])}, p99 {duration(first['p99'])}"]
        words.append(f"between items p50 {duration(gap['p50'])}, p99 {duration(gap['p99'])}")
        streamed = ["; ".join(words)]
    notes = [*result.warnings, *(pipeline.gpu.notes if pipeline.gpu is not None else ())]
    return [*streamed, *_gpu(pipeline.gpu), *result.verdict.reasons, *(f"note: {note}" for note in notes)]


def _gpu(gpu: GpuUsage | None) -> list[str]:
    if gpu is None:
        return []
    told = [
        (gpu.mean_pct, "of a GPU's time {:.0f}%"),
        (gpu.peak_memory_mb, "most memory {:.0f} MB"),
        (gpu.mean_power_w, "power {:.0f} W"),
        (gpu.energy_j, "energy {:.4g} J"),
        (gpu.joules_per_query, "{:.3g} J a query"),
        (gpu.joules_per_token, "{:.3g} J a token"),
        (gpu.joules_per_sample, "{:.3g} J a sample"),
    ]
    words = [text.format(value) for value, text in told if value is not None]
    return [f"GPU: {', '.join(words)}"] if words else []


def window_table(outcome: GroupOutcome) -> str:
    rows = []
    for pipeline in outcome.pipelines:
        found = window_json(pipeline, outcome.window)
        rate = found["throughput"]
        times = (found[name] for name in ("mean_us", "p50_us", "p99_us"))
        rows.append(
            [pipeline.config.name, str(found["completed"]), "–" if rate is None else f"{rate:.1f}"]
            + ["–" if time is None else duration(time * 1e3) for time in times]
        )
    return table(["pipeline", "answers", "done/s", "mean", "p50", "p99"], rows)


def stage_table(outcome: GroupOutcome) -> str:
    """Where each pipeline's time went while all ran (for one alone: in its whole run). Shares are of its own stages."""
    rows = []
    for pipeline in outcome.pipelines:
        times = {stage: stage_window(pipeline, stage, outcome.window) for stage in pipeline.result.stages}
        total = sum(int(spent.sum()) for spent in times.values()) or 1
        for stage, spent in times.items():
            latency = Latency.of(spent)
            name = f"{stage} {pipeline.result.stages[stage].name}"
            if not pipeline.result.stages[stage].recorded:
                rows.append([pipeline.config.name, name, "not recorded", "–", "–", "–", "–"])
                continue
            shown = [duration(latency.mean), duration(latency["p50"]), duration(latency["p99"])]
            share = f"{int(spent.sum()) / total:.0%}"
            rows.append([pipeline.config.name, name, str(latency.count), *shown, share])
    return table(["pipeline", "stage", "calls", "mean", "p50", "p99", "share"], rows)


_TITLES: tuple[tuple[What, str], ...] = (("throughput", "throughput"), ("p99", "p99 latency"))


def matrix_text(matrix: Matrix) -> str:
    """Each pipeline alone, each group of the last round, what they did to each other, and the matrix of it."""
    parts = []
    for run in [run for run in matrix.runs if run.round == matrix.runs[-1].round]:
        names = [pipeline.config.name for pipeline in run.outcome.pipelines]
        title = f"{names[0]} alone" if len(names) == 1 else " + ".join(names)
        parts.append(f"== {title}\n{run_text(run.outcome)}")
    parts += ["== alone and beside, over the same window", *map(contrast_text, matrix.contrasts)]
    return "\n\n".join([*parts, "== who slows whom", matrix_table(matrix)])


def contrast_text(contrast: Contrast) -> str:
    """One pipeline alone and beside others: every figure of both, over the same window, and what that comes to."""
    title = f"{contrast.pipeline} beside {beside_words(contrast)}"
    if not contrast.rounds:
        return f"{title}: {contrast.problem}"
    rounds = "1 round" if len(contrast.rounds) == 1 else f"{len(contrast.rounds)} rounds, each"
    same = "the same queries" if contrast.paired else "the same stretch of time, with other queries"
    names = contrast.rounds[0].beside.result.stages
    rows = []
    for slowdown in contrast.slowdowns:
        of = "" if slowdown.stage is None else f"stage {slowdown.stage} {names[slowdown.stage].name}, "
        rows.append([f"{of}{slowdown.what}", _value(slowdown, slowdown.alone), _value(slowdown, slowdown.beside)])
        rows[-1].append(cell_text(slowdown) if slowdown.rounds else slowdown.reason)
    head = f"{title} ({rounds} {contrast.seconds:.3g} s together; alone, {same})"
    return head + "\n" + table(["", "alone", "beside", "slowdown"], rows)


def beside_words(contrast: Contrast) -> str:
    return " + ".join("its own copy" if name == contrast.pipeline else name for name in contrast.beside)


def matrix_table(matrix: Matrix) -> str:
    """Rows suffer, columns cause. Throughput and p99, each with its 95% interval."""
    columns: list[Group] = (
        [(name,) for name in matrix.names]
        if all(len(group) == 2 for group in matrix.groups)
        else list(dict.fromkeys(neighbours(group, name) for group in matrix.groups for name in group))
    )
    blocks = []
    for what, title in _TITLES:
        rows = [[name, *(_cell(matrix.contrast(name, beside), what) for beside in columns)] for name in matrix.names]
        head = ["", *(" + ".join(beside) for beside in columns)]
        blocks.append(f"slowdown of {title} (row beside column, against alone)\n" + table(head, rows))
    return "\n\n".join([*blocks, *_reasons(matrix), _interval_words(matrix)])


def _reasons(matrix: Matrix) -> list[str]:
    lines = []
    for contrast in matrix.contrasts:
        missing = {title: contrast.slowdown(what).reason for what, title in _TITLES}
        for reason in dict.fromkeys(reason for reason in missing.values() if reason):
            of = " and ".join(title for title, why in missing.items() if why == reason)
            lines.append(f"no {of} of {contrast.pipeline} beside {beside_words(contrast)}: {reason}")
    return ["\n".join(lines)] if lines else []


def _interval_words(matrix: Matrix) -> str:
    rounds = max((len(contrast.rounds) for contrast in matrix.contrasts), default=0)
    if rounds > 1:
        # With two, chance alone puts the ends of an interval 12.7 standard errors apart; with five, 2.8 (Student's t).
        wide = "; of two they are very wide (--repeat 5 narrows them)" if rounds == 2 else ""
        return f"in brackets: 95% intervals over {rounds} rounds{wide}"
    return (
        "in brackets: 95% intervals of one round; they hold what its parts differ by, not what another round would "
        "differ by (--repeat 3 tells)"
    )


def _cell(contrast: Contrast | None, what: What) -> str:
    return "–" if contrast is None else cell_text(contrast.slowdown(what))


def cell_text(slowdown: Slowdown) -> str:
    interval = slowdown.interval
    if interval is None:
        return "–"
    word = {True: "slower", False: "faster", None: "inconclusive"}[slowdown.slower]
    if len(slowdown.rounds) == 1 and slowdown.slower is not None:
        word += " this time"
    # Beyond these, rounds differ so much that a figure would say nothing.
    low = "<0.1" if interval.low < 0.1 else f"{interval.low:.2f}"
    high = ">100" if interval.high > 100 else f"{interval.high:.2f}"
    return f"{interval.estimate:.2f} [{low}, {high}] {word}"


def _value(slowdown: Slowdown, ns: float | None) -> str:
    if ns is None:
        return "–"
    return f"{1e9 / ns:.1f}/s" if slowdown.what == "throughput" else duration(ns)


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
