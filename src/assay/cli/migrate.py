from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from assay.config.migrate import migrated
from assay.errors import UsageError
from assay.sinks.own_sink import own_sink_module


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("matrix", metavar="FILE", type=Path, help="matrix YAML of the older form")
    parser.add_argument(
        "--datasets", metavar="FILE", type=Path, help="JSON with the data sets' paths, put into the YAML"
    )
    parser.add_argument("--output", metavar="FILE", type=Path, help="where to (default: print)")


def run(args: Namespace) -> int:
    """The older matrix file in the newer form; comments and order are kept."""
    folders = [args.matrix.absolute().parent, Path.cwd()]
    text = migrated(args.matrix, args.datasets, lambda name: own_sink_module(name, folders) is not None)
    if args.output is None:
        print(text, end="")
        return 0
    if args.output.exists():
        raise UsageError(f"{args.output} exists already")
    args.output.write_text(text, encoding="utf-8")
    print(f"wrote {args.output}; run it: assay run --config {args.output}")
    return 0
