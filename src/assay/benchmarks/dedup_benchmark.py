"""Documents that repeat others, exactly or nearly: which ones, of which. See docs/text.md."""

from __future__ import annotations

import shutil
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.benchmarks.benchmark_program import TimedRun, add_common_arguments, note_kernel, run_program
from assay.errors import DataError, UsageError
from assay.files.json_text import parse_json
from assay.files.reading import MB, TRACE, RegularFile, Unreadable
from assay.pipeline import Pipeline
from assay.record.benchmark import Benchmark
from assay.record.task import TaskPerf
from assay.stages.text.document_rows import import_arrow, import_orjson
from assay.stages.text.documents import FORMATS, document_files, document_reader
from assay.stages.text.exact_duplicates import (
    DigestRanges,
    DigestStore,
    DigestTexts,
    DigestWriter,
    GatherRepeats,
    RepeatedDocuments,
    can_digest,
)

SCRIPT = "dedup_benchmark.py"
OUTPUT = "duplicates"


def main(argv: Sequence[str] | None = None) -> int:
    return run_program(SCRIPT, parser(), identify, argv)


def identify(args: Namespace, results: Benchmark) -> None:
    if not 0 < args.similarity <= 1:
        raise UsageError(f"--similarity: {args.similarity} is not between 0 and 1")
    work = args.output_path / ".keys"
    shutil.rmtree(work, ignore_errors=True)
    run = TimedRun()
    digest = args.method == "exact" and can_digest(document_files(args.input_path)[: args.max_files])
    try:
        found = (same_texts if digest else alike)(args, run, work)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    note_kernel(results, "duplicates are found in plain Python and numpy, far slower")
    results.counts(
        num_documents=found.documents,
        num_candidate_pairs=found.candidates,
        num_confirmed_pairs=found.confirmed,
        num_duplicates=len(found.ids),
        num_groups=found.groups,
    )
    results.metric("throughput_documents_per_s", found.documents / run.seconds, unit="1/s", better="higher")
    if args.known_duplicates is not None:
        for kind, share in recalls(args.known_duplicates, args.id_field, set(found.ids)).items():
            results.metric(f"recall_{kind}", share, better="higher", exact=True)
    run.report(results)


@dataclass(frozen=True)
class FoundDuplicates:
    documents: int
    candidates: int
    confirmed: int
    ids: list[Any]
    of: list[Any]
    """The earliest document of each one's group."""
    groups: int


def alike(args: Namespace, run: TimedRun, work: Path) -> FoundDuplicates:
    """The general way: keys that documents share, confirmed, connected."""
    from assay.stages.text.duplicate_pairs import Confirm, Gather, KeyRanges, Pairs, duplicates
    from assay.stages.text.key_store import KeyStore

    store = KeyStore(run.add(keys_pipeline(args, work), args))
    share = 1.0 if args.method == "exact" else args.similarity
    pairs = run.add(Pipeline(KeyRanges(store), [Confirm(store, share), Gather()], name="pairs"), args)
    with clustering(run):
        repeated = duplicates(Pairs.concat(pairs))
        ids, of = store.ids(repeated.second), store.ids(repeated.first)
        write(args, ids, of)
    candidates, confirmed = (run.rows("confirmation", which) for which in ("rows_in", "rows_out"))
    groups = len(set(repeated.first.tolist()))
    return FoundDuplicates(sum(part.rows for part in store.parts), candidates, confirmed, ids, of, groups)


def same_texts(args: Namespace, run: TimedRun, work: Path) -> FoundDuplicates:
    """Exact duplicates in JSONL, by compiled code: 128 bits of a text's digest are all that is compared of it."""
    source = document_reader(args.input_path, args.files_per_partition, args.max_files)
    keys = Pipeline(source, [DigestTexts(args.id_field, args.text_field), DigestWriter(work)], name="keys")
    store = DigestStore(run.add(keys, args))
    ranges = run.add(Pipeline(DigestRanges(store), [GatherRepeats()], name="pairs"), args)
    with clustering(run):
        repeated = RepeatedDocuments.concat(ranges)
        loads = import_orjson().loads
        ids, of = ([loads(one) for one in store.ids(side)] for side in (repeated.second, repeated.first))
        write(args, ids, of)
    groups = len(set(repeated.first))
    # As in the general way, each is paired with the first of its group and with the one before it.
    pairs = 2 * len(repeated) - groups
    return FoundDuplicates(len(store), pairs, pairs, ids, of, groups)


@contextmanager
def clustering(run: TimedRun) -> Iterator[None]:
    """What the driver does at the end, timed like a stage."""
    started = time.perf_counter()
    yield
    taken = time.perf_counter() - started
    run.tasks.append(TaskPerf("clustering", {"process_time": taken}))
    run.seconds += taken


def keys_pipeline(args: Namespace, work: Path) -> Pipeline:
    from assay.stages.text.key_store import ExactKeys, KeyWriter, NearKeys

    source = document_reader(args.input_path, args.files_per_partition, args.max_files)
    keys = (ExactKeys if args.method == "exact" else NearKeys)(args.id_field, args.text_field)
    return Pipeline(source, [keys, KeyWriter(work)], name="keys")


def write(args: Namespace, ids: list[Any], of: list[Any]) -> None:
    """The list that `removal_benchmark.py --ids-to-remove-path` takes."""
    folder, name = args.output_path, f"{OUTPUT}.{args.output_format}"
    folder.mkdir(parents=True, exist_ok=True)
    aside = folder / f".{name}.tmp"
    if args.output_format == "jsonl":
        dumps = import_orjson().dumps
        rows = ({args.id_field: one, "duplicate_of": other} for one, other in zip(ids, of, strict=True))
        aside.write_bytes(b"".join(dumps(row) + b"\n" for row in rows))
    else:
        from pyarrow import parquet

        parquet.write_table(import_arrow().table({args.id_field: ids, "duplicate_of": of}), aside)
    aside.replace(folder / name)
    # A list of an earlier run in another format would be taken for a part of this one.
    for other in FORMATS:
        if other != args.output_format:
            (folder / f"{OUTPUT}.{other}").unlink(missing_ok=True)


def recalls(known: Path, id_field: str, found: set[Any]) -> dict[str, float]:
    """Share that was found of the duplicates that `assay data documents` put in, by kind."""
    kinds: dict[str, list[bool]] = {}
    try:
        with RegularFile(known, TRACE) as file:
            for number, line in enumerate(file.lines(MB), 1):
                row = parse_json(line, f"line {number}")
                kinds.setdefault(str(row["kind"]), []).append(row[id_field] in found)
    except (FileNotFoundError, Unreadable, KeyError, TypeError) as error:
        raise DataError(f"{known}: not a list of known duplicates: {error}") from None
    return {kind: sum(hits) / len(hits) for kind, hits in kinds.items()}


def parser() -> ArgumentParser:
    words = ArgumentParser(prog=SCRIPT, description="Measure the identification of duplicates.", allow_abbrev=False)
    add_common_arguments(words)
    add = words.add_argument
    add("--input-path", required=True, help="a JSONL (.gz, .zst) or Parquet file, or a folder of them")
    add(
        "--output-path",
        type=Path,
        required=True,
        help="folder for the list: each id to remove, and what it repeats",
    )
    add("--output-format", choices=FORMATS, default="parquet", help="duplicates.parquet (default) or duplicates.jsonl")
    add("--method", choices=("exact", "near"), default="exact", help="default: exact")
    add("--similarity", type=float, default=0.8, help="least Jaccard similarity of near duplicates (default: 0.8)")
    add("--id-field", default="id", help="default: id")
    add("--text-field", default="text", help="default: text")
    add("--files-per-partition", type=int, default=1, help="files a worker takes at a time (default: 1)")
    add("--max-files", type=int, default=None, help="input files to take, in order of name (default: all)")
    add("--known-duplicates", type=Path, help="duplicates.jsonl of `assay data documents`, to measure recall")
    return words


if __name__ == "__main__":
    raise SystemExit(main())
