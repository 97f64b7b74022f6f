"""Web archives in, the text of their pages out. See docs/text.md."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.benchmarks.benchmark_program import TimedRun, add_common_arguments, run_program
from assay.errors import UsageError
from assay.pipeline import Pipeline, Stage
from assay.record.benchmark import Benchmark
from assay.stages.text import crawl as crawl_listing
from assay.stages.text.crawl import CrawlListing, crawl_of, fetch, file_name, read_addresses
from assay.stages.text.documents import FORMATS, writer_for
from assay.stages.text.extract_text import DetectLanguage, ExtractText
from assay.stages.text.warc import WarcSource, archives_in

SCRIPT = "common_crawl_benchmark.py"


def main(argv: Sequence[str] | None = None) -> int:
    return run_program(SCRIPT, parser(), extract, argv)


def extract(args: Namespace, results: Benchmark) -> None:
    archives = get_archives(args)
    if archives.crawl is not None:
        results.params(crawl=archives.crawl)
    stages: list[Stage[Any, Any]] = [ExtractText()]
    if args.detect_language:
        stages.append(DetectLanguage())
    stages.append(writer_for(args.output_format, args.output_path))
    source = WarcSource(str(args.download_path), args.url_limit, names=archives.names)
    run = TimedRun()
    parts = run.add(Pipeline(source, stages, name="common_crawl"), args)
    files = {piece.path for split in source.splits() for piece in split.ranges}
    size = sum(Path(path).stat().st_size for path in files)
    results.metrics(num_fetched=archives.fetched)
    results.counts(
        num_archives=len(files),
        num_pages=run.rows("warc_reader", "rows_out"),
        num_documents=sum(part.rows for part in parts),
        num_output_tasks=len(parts),
    )
    results.metric("input_bytes", size, unit="B", exact=True)
    results.metric("output_bytes", sum(part.size for part in parts), unit="B", exact=True)
    results.metric("throughput_mb_per_s", size / 1e6 / run.seconds, unit="MB/s", better="higher")
    run.report(results)


@dataclass(frozen=True)
class Archives:
    """What was fetched, and which archives of the folder to take: None for all."""

    fetched: int = 0
    names: list[str] | None = None
    crawl: str | None = None
    """The listing they are from."""


def get_archives(args: Namespace) -> Archives:
    """Fetches what is asked for and not there yet.

    What stands in the folder already, whoever put it there, is taken as it is. An empty one is filled from a crawl, and
    so is one that was filled from a crawl, but not as far.
    """
    folder: Path = args.download_path
    if args.urls is not None:
        return Archives(fetch(read_addresses(args.urls, args.url_limit), folder, tell))
    known = args.crawl or crawl_of(folder)
    if args.url_limit is None or (known is None and archives_in(folder)):
        if args.crawl is not None:
            raise UsageError(f"--crawl {args.crawl}: say with --url_limit how many archives: it has tens of thousands")
        return Archives()
    listing = CrawlListing(known or crawl_listing.CRAWL)
    addresses = listing.archives(args.url_limit, folder)
    return Archives(fetch(addresses, folder, tell), [file_name(address) for address in addresses], listing.address)


def tell(what: str) -> None:
    print(f"{SCRIPT}: {what}", flush=True)


def default_output() -> Path:
    """Folder of the output: in a session below the run's scratch folder, which is deleted with the run."""
    return Path(os.environ.get("ASSAY_SCRATCH_DIR") or ".") / "common_crawl_output"


def parser() -> ArgumentParser:
    words = ArgumentParser(prog=SCRIPT, description="Measure text extraction from web archives.", allow_abbrev=False)
    add_common_arguments(words)
    add = words.add_argument
    add(
        "--download_path", "--download-path", type=Path, default=Path("common_crawl_downloads"),
        help="folder of WARC files (.warc, .gz, .zst), filled from a crawl if it has none (default: %(default)s)",
    )  # fmt: skip
    add(
        "--output_path", "--output-path", type=Path, default=default_output(),
        help="folder for the part files (default: common_crawl_output, in a session in its scratch folder)",
    )  # fmt: skip
    add("--output_format", "--output-format", default="parquet", choices=FORMATS, help="default: parquet")
    add("--url_limit", "--url-limit", type=int, default=None, help="archives to take (default: all that are there)")
    add(
        "--crawl",
        help=f"whose archives to download: a name, or the address of a warc.paths.gz (default: {crawl_listing.CRAWL})",
    )
    add("--urls", type=Path, help="a list of archives to fetch into --download_path first, one address a line")
    add("--detect-language", action="store_true", help="add the language of each document")
    return words


if __name__ == "__main__":
    raise SystemExit(main())
