from __future__ import annotations

from assay.loadgen.colocation.accelerators.gpu_usage import GpuUsage
from assay.loadgen.colocation.colocation import GroupOutcome, PipelineOutcome
from assay.loadgen.colocation.figure_lines import figure_lines
from assay.loadgen.colocation.kept.run_json import stage_window, window_json
from assay.loadgen.colocation.overlap import Overlap
from assay.loadgen.colocation.policies.words import policy_text
from assay.loadgen.colocation.tables.text_table import duration, table
from assay.loadgen.latency.latency import Latency


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
