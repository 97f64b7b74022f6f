from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from assay.stages.pytorch.tiny_model import write_tiny_model


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("output", type=Path, help="folder for the model's files")


def generate(args: Namespace) -> int:
    written = write_tiny_model(args.output, args.seed)
    size = sum(path.stat().st_size for path in written)
    print(f"{args.output}: a language model that knows nothing, {len(written)} files, {size / 1e6:.1f} MB")
    return 0
