"""Rows dropped by their id from JSONL or Parquet files. See docs/text.md."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from assay.benchmarks.benchmark_program import TimedRun, add_common_arguments, note_kernel, run_program
from assay.pipeline import Pipeline, Stage
from assay.record.benchmark import Benchmark
from assay.stages.text.documents import FORMATS, document_reader, format_of, writer_for
from assay.stages.text.id_set import RemoveById

SCRIPT = "removal_benchmark.py"


def main(argv: Sequence[str] | None = None) -> int:
    return run_program(SCRIPT, parser(), remove, argv)


def remove(args: Namespace, results: Benchmark) -> None:
    source = document_reader(args.input_path, args.files_per_partition, args.max_files)
    form = args.output_format or format_of(args.input_path)
    stages: list[Stage[Any, Any]] = [
        RemoveById(args.ids_to_remove_path, args.id_field),
        writer_for(form, args.output_path),
    ]
    run = TimedRun()
    parts = run.add(Pipeline(source, stages, name="removal"), args)
    rows_in, rows_out = (run.rows("id_removal", which) for which in ("rows_in", "rows_out"))
    note_kernel(results, "rows are read in plain Python, slower")
    results.metrics(is_success=rows_out == sum(part.rows for part in parts))
    results.counts(
        num_input_rows=rows_in,
        num_output_rows=rows_out,
        num_removed=rows_in - rows_out,
        num_output_tasks=len(parts),
    )
    results.metric("throughput_rows_per_s", rows_in / run.seconds, unit="1/s", better="higher")
    run.report(results)


def parser() -> ArgumentParser:
    words = ArgumentParser(prog=SCRIPT, description="Measure the removal of rows by id.", allow_abbrev=False)
    add_common_arguments(words)
    add = words.add_argument
    add("--input-path", required=True, help="a JSONL (.gz, .zst) or Parquet file, or a folder of them")
    add("--ids-to-remove-path", required=True, help="the same, with the ids to drop")
    add("--output-path", type=Path, required=True, help="folder for the part files")
    add("--output-format", choices=FORMATS, help="default: that of the input")
    add("--id-field", default="id", help="default: id")
    add("--files-per-partition", type=int, default=1, help="files a worker takes at a time, one part each (default: 1)")
    add("--max-files", type=int, default=None, help="input files to take, in order of name (default: all)")
    return words


if __name__ == "__main__":
    raise SystemExit(main())
