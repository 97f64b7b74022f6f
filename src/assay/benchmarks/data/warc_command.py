from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from assay.benchmarks.data.warc_files import TRUTH, write_warc_files
from assay.errors import UsageError


def arguments(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("output", type=Path, help="folder for the archives")
    add("--files", type=int, default=2, help="default: 2")
    add("--pages", type=int, default=1000, help="pages in each (default: 1000, about 2.4 MB)")


def generate(args: Namespace) -> int:
    if args.files < 1 or args.pages < 1:
        raise UsageError("assay data warc: --files and --pages are 1 or more")
    written = write_warc_files(args.output, args.files, args.pages, args.seed)
    size = sum(path.stat().st_size for path in written)
    made = f"{len(written)} archives, {args.files * args.pages} pages, {size / 1e6:.1f} MB"
    print(f"{args.output}: {made}; {TRUTH} says what they hold")
    return 0
