from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from assay.benchmarks.data.documents import FORMATS, TRUTH, Corpus, write_documents
from assay.errors import UsageError


def arguments(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("output", type=Path, help="folder: the documents go to documents/ in it")
    add("--documents", type=int, default=10_000, help="default: 10000")
    add("--files", type=int, default=4, help="default: 4")
    add("--format", choices=FORMATS, default="jsonl", help="default: jsonl")
    add("--exact", type=float, default=0.1, metavar="SHARE", help="that repeat another exactly (default: 0.1)")
    add(
        "--near",
        type=float,
        default=0.1,
        metavar="SHARE",
        help="that repeat another but for a few words (default: 0.1)",
    )
    add("--edit", type=float, default=0.01, metavar="SHARE", help="of words changed in those (default: 0.01)")
    add("--id-field", default="id", help="default: id")


def generate(args: Namespace) -> int:
    if not (args.exact >= 0 and args.near >= 0 and args.exact + args.near < 1):
        raise UsageError("assay data documents: --exact and --near are shares that leave room for other documents")
    corpus = Corpus(args.documents, args.files, args.exact, args.near, args.edit, args.seed, args.id_field, args.format)
    written = write_documents(args.output, corpus)
    size = sum(path.stat().st_size for path in written)
    made = f"{args.documents} documents in {len(written)} files, {size / 1e6:.1f} MB"
    print(f"{args.output}: {made}; {TRUTH} lists those that repeat")
    return 0
