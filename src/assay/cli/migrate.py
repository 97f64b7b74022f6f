from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from assay.config.migrate import migrate
from assay.errors import UsageError
from assay.sinks.registry import own_sink_module


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "file", metavar="FILE", type=Path, help="matrix YAML of the older form, or a newer YAML of NeMo Curator"
    )
    parser.add_argument(
        "--datasets", metavar="FILE", type=Path, help="JSON with the data sets' paths, put into the YAML"
    )
    parser.add_argument("--sink", metavar="NAME", default="none", help="the sink it was run with, which then acts")
    parser.add_argument("--output", metavar="FILE", type=Path, help="where to (default: print)")


def run(args: Namespace) -> int:
    """The file in Assay's form, doing what it did; comments and order are kept."""
    folders = [args.file.absolute().parent, Path.cwd()]
    new = migrate(args.file, args.datasets, args.sink, lambda name: own_sink_module(name, folders) is not None)
    for note in new.notes:
        print(f"note: {args.file}: {note}", file=sys.stderr)
    if args.output is None:
        print(new.text, end="")
        return 0
    try:
        with args.output.open("x", encoding="utf-8") as out:
            out.write(new.text)
    except FileExistsError:
        raise UsageError(f"{args.output} exists already") from None
    except OSError as error:
        raise UsageError(f"{args.output} cannot be written: {error.strerror}") from None
    print(f"wrote {args.output}; run it: assay run --config {args.output}")
    if args.output.absolute().parent != args.file.absolute().parent:
        print(f"note: scripts are looked for beside {args.output}, no longer beside {args.file}", file=sys.stderr)
    return 0
