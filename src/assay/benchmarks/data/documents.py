from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from assay.benchmarks.data.prose import LANGUAGES, Prose
from assay.errors import MissingExtra, UsageError
from assay.names import unknown

TRUTH = "duplicates.jsonl"
FORMATS = ("jsonl", "parquet")


@dataclass(frozen=True)
class Corpus:
    """How many documents, and which share of them repeats an earlier one."""

    documents: int
    files: int = 4
    exact: float = 0.1
    near: float = 0.1
    edit: float = 0.01
    """Share of words changed in a near duplicate."""
    seed: int = 0
    id_field: str = "id"
    format: str = "jsonl"


def write_documents(folder: Path, corpus: Corpus) -> list[Path]:
    """Documents in files, in order, and beside them `duplicates.jsonl`: each repeated id, of which, and how."""
    if corpus.format not in FORMATS:
        raise UsageError(unknown("format", corpus.format, FORMATS))
    if corpus.documents < corpus.files or corpus.files < 1:
        raise UsageError(f"{corpus.documents} documents cannot fill {corpus.files} files")
    data = folder / "documents"
    data.mkdir(parents=True, exist_ok=True)
    rows = _rows(corpus)
    written = []
    with (folder / TRUTH).open("w", encoding="utf-8") as truth:
        for number in range(corpus.files):
            count = (number + 1) * corpus.documents // corpus.files - number * corpus.documents // corpus.files
            path = data / f"part-{number:05d}.{corpus.format}"
            part = [next(rows) for _ in range(count)]
            _write(path, corpus.format, [row for row, _ in part])
            truth.writelines(json.dumps(known) + "\n" for _, known in part if known is not None)
            written.append(path)
    return written


def _rows(corpus: Corpus) -> Iterator[tuple[dict[str, Any], dict[str, Any] | None]]:
    rng = Random(f"documents {corpus.seed}")
    # Originals to copy from: a sample of fixed size, so that memory does not grow with the corpus.
    originals: list[tuple[str, str]] = []
    for number in range(corpus.documents):
        name = f"doc-{corpus.seed}-{number:09d}"
        roll = rng.random()
        known = None
        if originals and roll < corpus.exact + corpus.near:
            of, text = rng.choice(originals)
            kind = "exact" if roll < corpus.exact else "near"
            if kind == "near":
                text = _edit(rng, text, corpus.edit)
            known = {corpus.id_field: name, "of": of, "kind": kind}
        else:
            language = rng.choice(LANGUAGES)
            text = "\n\n".join(Prose(language, rng).document(rng.randint(2, 10)))
            if len(originals) < 5_000:
                originals.append((name, text))
            else:
                originals[rng.randrange(len(originals))] = (name, text)
        yield {corpus.id_field: name, "url": f"https://example.org/{number}", "text": text}, known


def _edit(rng: Random, text: str, share: float) -> str:
    """Words replaced, dropped and doubled; in scripts without spaces, characters."""
    spaced = text.count(" ") > len(text) / 20
    pieces = text.split(" ") if spaced else list(text)
    for _ in range(max(1, round(len(pieces) * share))):
        at = rng.randrange(len(pieces))
        pieces[at] = rng.choice(("", pieces[at] * 2, pieces[rng.randrange(len(pieces))]))
    return (" " if spaced else "").join(pieces)


def _write(path: Path, form: str, rows: list[dict[str, Any]]) -> None:
    if form == "jsonl":
        path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
        return
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtra("pyarrow", "pipeline") from None
    pq.write_table(pa.Table.from_pylist(rows), path, row_group_size=2_000)


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
