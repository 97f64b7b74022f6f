"""Web archives in, the text of their pages out. See docs/text.md."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from assay.benchmarks.timed_run import TimedRun, add_common_arguments, run_program
from assay.pipeline import Pipeline, Stage
from assay.record.benchmark import Benchmark
from assay.stages.text.extract_text import DetectLanguage, ExtractText
from assay.stages.text.fetch import fetch
from assay.stages.text.row_writers import FORMATS, writer_for
from assay.stages.text.warc_source import WarcSource

SCRIPT = "common_crawl_benchmark.py"


def main(argv: Sequence[str] | None = None) -> int:
    return run_program(SCRIPT, parser(), extract, argv)


def extract(args: Namespace, results: Benchmark) -> None:
    fetched = fetch(args.urls, args.download_path, args.url_limit) if args.urls is not None else 0
    stages: list[Stage[Any, Any]] = [ExtractText()]
    if args.detect_language:
        stages.append(DetectLanguage())
    stages.append(writer_for(args.output_format, args.output_path))
    source = WarcSource(str(args.download_path), args.url_limit)
    run = TimedRun()
    parts = run.add(Pipeline(source, stages, name="common_crawl"), args)
    archives = {piece.path for split in source.splits() for piece in split.ranges}
    size = sum(Path(path).stat().st_size for path in archives)
    results.metrics(num_fetched=fetched)
    results.counts(
        num_archives=len(archives),
        num_pages=run.rows("warc_reader", "rows_out"),
        num_documents=sum(part.rows for part in parts),
        num_output_tasks=len(parts),
    )
    results.metric("input_bytes", size, unit="B", exact=True)
    results.metric("output_bytes", sum(part.size for part in parts), unit="B", exact=True)
    results.metric("throughput_mb_per_s", size / 1e6 / run.seconds, unit="MB/s", better="higher")
    run.report(results)


def parser() -> ArgumentParser:
    words = ArgumentParser(prog=SCRIPT, description="Measure text extraction from web archives.", allow_abbrev=False)
    add_common_arguments(words)
    add = words.add_argument
    add("--download_path", "--download-path", type=Path, required=True, help="folder of WARC files (.warc, .gz, .zst)")
    add("--output_path", "--output-path", type=Path, required=True, help="folder for the part files")
    add("--output_format", "--output-format", default="parquet", choices=FORMATS, help="default: parquet")
    add("--url_limit", "--url-limit", type=int, default=None, help="archives to take, in order of name (default: all)")
    add("--urls", type=Path, help="a list of archives to fetch into --download_path first, one address a line")
    add("--detect-language", action="store_true", help="add the language of each document")
    return words


if __name__ == "__main__":
    raise SystemExit(main())
