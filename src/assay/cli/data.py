"""`assay data KIND`: input data for the bundled benchmarks. A kind is a file of `assay.benchmarks.data` with
`arguments(parser)` and `generate(args) -> int`, named in KINDS."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from importlib import import_module

KINDS = {
    "alm": ("assay.benchmarks.data.alm", "audio manifests: recordings cut into segments"),
    "warc": ("assay.benchmarks.data.warc", "web archives: pages in several encodings"),
    "documents": ("assay.benchmarks.data.documents", "text documents with known duplicates"),
    "questions": ("assay.benchmarks.data.questions", "questions with known answers, documents, a database"),
    "tiny-model": ("assay.benchmarks.data.tiny_model", "a tiny language model and its tokenizer, random"),
}


def arguments(parser: ArgumentParser) -> None:
    kinds = parser.add_subparsers(metavar="kind", required=True)
    for name, (module, summary) in KINDS.items():
        kind = kinds.add_parser(name, help=summary, description=summary, allow_abbrev=False)
        kind.add_argument("--seed", type=int, default=0, help="the same seed makes the same data (default: 0)")
        loaded = import_module(module)
        loaded.arguments(kind)
        kind.set_defaults(generate=loaded.generate)


def run(args: Namespace) -> int:
    return int(args.generate(args))
