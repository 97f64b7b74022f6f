from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from assay.benchmarks.data.alm import SHAPES, with_changes, write_manifest

_CHANGES = ("segments", "segment_s", "speakers", "low_rate", "low_bandwidth", "no_speaker", "odd")

_SHAPES = (
    "short: about 6 KB each; long: an hour with word timings; odd: all that is odd and still valid (default: short)"
)


def arguments(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("output", type=Path, help="manifest to write, JSONL")
    add("--recordings", type=int, default=1000, help="default: 1000")
    add("--shape", choices=list(SHAPES), default="short", help=_SHAPES)
    add("--segments", type=int, help="segments of a recording, on average")
    add("--segment-s", type=float, help="seconds of a segment, on average")
    add("--speakers", type=int, help="most speakers of a recording")
    add("--word-timings", action="store_true", default=None, help="time every word")
    for name in ("low-rate", "low-bandwidth", "no-speaker", "odd"):
        add(f"--{name}", type=float, metavar="SHARE", help=f"share with that fault: {name.replace('-', ' ')}")


def generate(args: Namespace) -> int:
    changes = {name: getattr(args, name) for name in (*_CHANGES, "word_timings")}
    shape = with_changes(SHAPES[args.shape], changes)
    size = write_manifest(args.output, args.recordings, shape, args.seed)
    print(f"{args.output}: {args.recordings} recordings, {size / 1e6:.1f} MB")
    return 0
