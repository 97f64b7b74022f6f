"""ALM curation, end to end: manifest in, windows built and thinned out, counted or written. See docs/alm.md."""

from __future__ import annotations

import sys
import time
from argparse import ArgumentParser, BooleanOptionalAction, Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from assay.benchmarks.alm_output import AlmOutput
from assay.benchmarks.benchmark_program import exit_code, note_kernel
from assay.errors import DataError
from assay.files.writing import write_atomic
from assay.pipeline import Pipeline, SplitResult, Stage, executor_named
from assay.pipeline.executors.executor import EXECUTORS
from assay.record.benchmark import Benchmark, benchmark
from assay.record.task import TaskPerf, TaskPerfUtils
from assay.stages.alm.builder_stage import ALMDataBuilderStage
from assay.stages.alm.kernel import library
from assay.stages.alm.manifest_reader import ManifestReader, RepeatEntries
from assay.stages.alm.overlap_stage import ALMDataOverlapStage
from assay.stages.alm.parameters import BuilderParameters, OverlapParameters
from assay.stages.alm.split_summary import SplitSummary

SCRIPT = "alm_pipeline_benchmark.py"
USUAL_ENTRY = "alm_pipeline_xenna"
"""Entry that `--config` without `--entry` means, where several have this program."""
MOST_SHOWN = 10


def main(argv: Sequence[str] | None = None) -> int:
    def measure() -> None:
        args = parse(list(sys.argv[1:] if argv is None else argv))
        with benchmark(["--benchmark-results-path", str(args.benchmark_results_path)]) as results:
            curate(args, results)

    return exit_code(SCRIPT, measure)


def curate(args: Namespace, results: Benchmark) -> None:
    results.params(**{name: value for name, value in vars(args).items() if name != "config"})
    library()  # Loaded before the clock starts.
    note_kernel(results, "ALM curation runs in plain Python, far slower")
    output = AlmOutput(args.output_manifest, args.output_format)
    pipeline = build_pipeline(args, output)
    if args.describe:
        print(pipeline.describe())
    started = time.perf_counter()
    summary, tasks = run(pipeline, args, output)
    taken = time.perf_counter() - started
    results.add_tasks(tasks)
    report(results, summary, tasks, taken)
    list_bad_lines(args.benchmark_results_path, summary)


def build_pipeline(args: Namespace, output: AlmOutput) -> Pipeline:
    builder = BuilderParameters(
        target_window_duration=args.target_window_duration,
        tolerance=args.tolerance,
        min_sample_rate=args.min_sample_rate,
        min_bandwidth=args.min_bandwidth,
        min_speakers=args.min_speakers,
        max_speakers=args.max_speakers,
        truncation=args.truncation,
        drop_fields=args.drop_fields,
        drop_fields_top_level=args.drop_fields_top_level,
    )
    overlap = OverlapParameters(args.overlap_percentage, args.target_window_duration)
    reader = ManifestReader(args.input_manifest, args.on_bad_line)
    source = reader if args.repeat_factor == 1 else RepeatEntries(reader, args.repeat_factor)
    stages: list[Stage[Any, Any]] = [
        ALMDataBuilderStage(builder, args.on_bad_line),
        ALMDataOverlapStage(overlap, builder),
        output.collector(),
    ]
    return Pipeline(source, stages, name="alm_pipeline")


def run(pipeline: Pipeline, args: Namespace, output: AlmOutput) -> tuple[SplitSummary, list[TaskPerf]]:
    summary = SplitSummary()
    tasks: list[TaskPerf] = []
    output.prepare()
    for split in pipeline.stream(executor_named(args.executor, workers=args.workers)):
        summary.add(output.summary_of(_only(split)))
        tasks.extend(split.tasks)
    output.finish()
    if not summary.entries and not summary.skipped:
        raise DataError(f"{', '.join(args.input_manifest)}:1: segments: no recording there, only blank lines")
    return summary, tasks


def report(results: Benchmark, summary: SplitSummary, tasks: Sequence[TaskPerf], taken: float) -> None:
    entries = int(TaskPerfUtils.get_aggregated_stage_stat(tasks, "alm_manifest_reader", "rows_out"))
    results.metrics(is_success=summary.entries + summary.skipped == entries)
    results.counts(
        num_input_entries=entries,
        num_output_entries=summary.entries,
        entries_with_windows=summary.entries_with_windows,
        total_builder_windows=summary.builder_windows,
        total_filtered_windows=summary.filtered_windows,
        num_skipped_entries=summary.skipped,
        num_strictly_parsed_entries=summary.strict,
        truncation_events=summary.truncation_events,
    )
    results.metric("total_filtered_dur_s", summary.filtered_dur, unit="s", exact=True)
    results.metric("time_taken_s", taken, unit="s", better="lower")
    results.metric("throughput_entries_per_sec", entries / taken, unit="1/s", better="higher")
    results.metric("throughput_windows_per_sec", summary.builder_windows / taken, unit="1/s", better="higher")
    if summary.digest:
        results.metric("output_digest", f"{summary.digest:016x}", exact=True)
    for stage, measured in TaskPerfUtils.collect_stage_metrics(tasks).items():
        results.metric(f"stage_{stage}_cpu_time_sum", sum(measured["cpu_time"]), unit="s", better="lower")
        results.metric(f"stage_{stage}_process_time_sum", sum(measured["process_time"]), unit="s", better="lower")


def list_bad_lines(folder: Path, summary: SplitSummary) -> None:
    if not summary.skipped:
        return
    from assay.stages.alm.recording import describe

    lines = list(dict.fromkeys(describe(summary.bad)))
    folder.mkdir(parents=True, exist_ok=True)
    write_atomic(folder / "bad_lines.txt", "\n".join(lines) + "\n")
    print(f"{SCRIPT}: left out {summary.skipped} bad lines; listed in {folder / 'bad_lines.txt'}:", file=sys.stderr)
    for line in lines[:MOST_SHOWN]:
        print(f"  {line}", file=sys.stderr)


def parse(argv: list[str]) -> Namespace:
    first = ArgumentParser(add_help=False, allow_abbrev=False)
    first.add_argument("--config", type=Path)
    first.add_argument("--entry")
    found, rest = first.parse_known_args(argv)
    if found.config is not None:
        from assay.benchmarks.benchmark_program import arguments_of

        rest = [*arguments_of(found.config, found.entry, SCRIPT, USUAL_ENTRY), *rest]
    args = parser().parse_args(rest)
    args.config, args.entry = found.config, found.entry
    return args


def parser() -> ArgumentParser:
    words = ArgumentParser(prog=SCRIPT, description="Measure the ALM curation pipeline.", allow_abbrev=False)
    add = words.add_argument
    add("--config", type=Path, help="take the arguments from an entry of this session YAML; the command line wins")
    add("--entry", help=f"which entry (default: the only one that uses this program, or {USUAL_ENTRY})")
    add(
        "--benchmark-results-path",
        type=Path,
        required=True,
        help="folder for params.json, metrics.json, tasks.pkl and more",
    )
    add("--input-manifest", required=True, nargs="+", help="JSONL, .gz or .zst: a file, folder, glob or address")
    add("--executor", default="local", choices=list(EXECUTORS), help="default: local")
    add("--workers", type=int, default=None, help="worker processes; 0 is one a core (default: 1 for local)")
    add("--repeat-factor", type=int, default=1, help="multiply the entries, each processed in full (default: 1)")
    add("--target-window-duration", type=float, default=120.0, metavar="S", help="default: 120")
    add("--tolerance", type=float, default=0.1, help="share of the target duration (default: 0.1)")
    add("--min-sample-rate", type=float, default=16000, help="default: 16000")
    add("--min-bandwidth", type=float, default=8000, help="default: 8000")
    add("--min-speakers", type=int, default=2, help="default: 2")
    add("--max-speakers", type=int, default=5, help="default: 5")
    add("--overlap-percentage", type=float, default=50, help="0 to 100 (default: 50)")
    add("--truncation", action=BooleanOptionalAction, default=True, help="cut a segment that ends beyond the window")
    add("--drop-fields", default="words", help="of segments, comma-separated (default: words)")
    add("--drop-fields-top-level", default="words,segments", help="of entries (default: words,segments)")
    add("--on-bad-line", default="fail", choices=("fail", "skip"), help="default: fail")
    add(
        "--output-manifest",
        type=Path,
        help="NAME.jsonl for one file, otherwise a folder of parts (default: only count)",
    )
    add("--output-format", choices=("jsonl", "parquet"), help="of the parts (default: by the name, else jsonl)")
    add("--describe", action="store_true", help="print the pipeline's stages first")
    return words


def _only(split: SplitResult) -> object:
    (output,) = split.outputs
    return output


if __name__ == "__main__":
    raise SystemExit(main())
