from __future__ import annotations

from collections.abc import Sequence

from assay.loadgen.colocation.colocation import GroupOutcome, PipelineOutcome
from assay.loadgen.colocation.gpu_usage import GpuUsage
from assay.loadgen.colocation.matrix import Matrix
from assay.loadgen.colocation.slowdown import Slowdown
from assay.loadgen.latency.peak import Trial
from assay.stats.intervals import Interval


def group_table(outcome: GroupOutcome) -> str:
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


def stage_table(outcome: GroupOutcome) -> str:
    """Where each pipeline's time went."""
    rows = [
        [
            p.config.name,
            f"{id} {stage.name}",
            str(stage.latency.count),
            duration(stage.latency.mean),
            duration(stage.latency["p50"]),
            duration(stage.latency["p99"]),
            f"{stage.share:.0%}",
        ]
        if stage.recorded
        else [p.config.name, f"{id} {stage.name}", "not recorded", "–", "–", "–", "–"]
        for p in outcome.pipelines
        for id, stage in p.result.stages.items()
    ]
    return table(["pipeline", "stage", "calls", "mean", "p50", "p99", "share"], rows)


def matrix_table(matrix: Matrix) -> str:
    """Rows suffer, columns cause. Throughput and p99, each with its 95% interval."""
    blocks = []
    for title, pick in (("throughput", "throughput"), ("p99 latency", "p99")):
        if all(len(group) == 2 for group in matrix.groups):
            head = list(matrix.names)
            rows = [[name, *(_pair(matrix, name, other, pick) for other in head)] for name in matrix.names]
        else:
            head = ["+".join(group) for group in matrix.groups]
            rows = [
                [name, *(_cell(matrix.cells.get((name, group)), pick) for group in matrix.groups)]
                for name in matrix.names
            ]
        blocks.append(f"slowdown of {title} (row beside column, against alone)\n" + table(["", *head], rows))
    return "\n\n".join(blocks)


def _pair(matrix: Matrix, name: str, other: str, pick: str) -> str:
    return "1" if name == other else _cell(matrix.beside(name, other), pick)


def _cell(cell: Slowdown | None, pick: str) -> str:
    if cell is None:
        return "–"
    interval: Interval = getattr(cell, pick)
    if interval.estimate != interval.estimate:
        return "–"
    return f"{interval.estimate:.2f} [{interval.low:.2f}, {interval.high:.2f}]"


def trial_table(trials: Sequence[Trial[PipelineOutcome]]) -> str:
    rows = [
        [f"{trial.rate:g}", f"{trial.outcome.result.throughput:.1f}", f"{trial.outcome.result.verdict.goodput:.1f}"]
        + [duration(trial.outcome.result.latency[name]) for name in ("p50", "p90", "p99", "p99.9")]
        + ["VALID" if trial.valid else "INVALID"]
        for trial in trials
    ]
    shown = table(["rate", "done/s", "good/s", "p50", "p90", "p99", "p99.9", "verdict"], rows)
    reasons = [f"  {trial.rate:g}: {reason}" for trial in trials for reason in trial.outcome.result.verdict.reasons]
    return "\n".join([shown, *reasons])


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
