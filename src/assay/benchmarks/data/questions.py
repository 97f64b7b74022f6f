from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from assay.errors import UsageError
from assay.stages.self_rag.sample_data import TownLibrary, write_files


def arguments(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("output", type=Path, help="folder for questions.jsonl, documents.jsonl and towns.sqlite")
    add("--towns", type=int, default=24, help="each has four questions, one document and one wrong one (default: 24)")


def generate(args: Namespace) -> int:
    try:
        library = TownLibrary(args.towns, args.seed)
    except ValueError as error:
        raise UsageError(f"assay data questions: --{error}") from None
    written = write_files(args.output, library)
    names = ", ".join(path.name for path in written)
    print(f"{args.output}: {len(library.questions)} questions, {len(library.documents)} documents in {names}")
    return 0
