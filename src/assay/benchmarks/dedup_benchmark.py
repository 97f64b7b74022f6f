"""Documents that repeat others, exactly or nearly: which ones, of which. See docs/text.md."""

from __future__ import annotations

import shutil
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from assay.benchmarks.timed_run import TimedRun, add_common_arguments, run_program
from assay.errors import DataError, UsageError
from assay.pipeline import Pipeline
from assay.record.benchmark import Benchmark
from assay.record.task_perf import TaskPerf
from assay.stages.text.document_keys import ExactKeys, NearKeys
from assay.stages.text.document_reader import document_reader
from assay.stages.text.duplicate_pairs import Confirm, Gather, KeyRanges, Pairs, duplicates
from assay.stages.text.key_store import KeyStore, KeyWriter
from assay.stages.text.rows import import_arrow
from assay.untrusted.json_text import parse_json
from assay.untrusted.read_limit import MB, TRACE
from assay.untrusted.regular_file import RegularFile
from assay.untrusted.unreadable import Unreadable

SCRIPT = "dedup_benchmark.py"
OUTPUT = "duplicates.parquet"


def main(argv: Sequence[str] | None = None) -> int:
    return run_program(SCRIPT, parser(), identify, argv)


def identify(args: Namespace, results: Benchmark) -> None:
    if not 0 < args.similarity <= 1:
        raise UsageError(f"--similarity: {args.similarity} is not between 0 and 1")
    work = args.output_path / ".keys"
    shutil.rmtree(work, ignore_errors=True)
    run = TimedRun()
    try:
        store = KeyStore(run.add(keys_pipeline(args, work), args))
        share = 1.0 if args.method == "exact" else args.similarity
        found = run.add(Pipeline(KeyRanges(store), [Confirm(store, share), Gather()], name="pairs"), args)
        started = time.perf_counter()
        repeated = duplicates(Pairs.concat(found))
        ids, of = store.ids(repeated.second), store.ids(repeated.first)
        write(args.output_path, args.id_field, ids, of)
        taken = time.perf_counter() - started
        run.tasks.append(TaskPerf("clustering", {"process_time": taken}))
        run.seconds += taken
    finally:
        shutil.rmtree(work, ignore_errors=True)
    documents = sum(part.rows for part in store.parts)
    results.counts(
        num_documents=documents,
        num_candidate_pairs=run.rows("confirmation", "rows_in"),
        num_confirmed_pairs=run.rows("confirmation", "rows_out"),
        num_duplicates=len(ids),
        num_groups=len(set(repeated.first.tolist())),
    )
    results.metric("throughput_documents_per_s", documents / run.seconds, unit="1/s", better="higher")
    if args.known_duplicates is not None:
        for kind, share in recalls(args.known_duplicates, args.id_field, set(ids)).items():
            results.metric(f"recall_{kind}", share, better="higher", exact=True)
    run.report(results)


def keys_pipeline(args: Namespace, work: Path) -> Pipeline:
    source = document_reader(args.input_path, args.files_per_partition, args.max_files)
    keys = (ExactKeys if args.method == "exact" else NearKeys)(args.id_field, args.text_field)
    return Pipeline(source, [keys, KeyWriter(work)], name="keys")


def write(folder: Path, id_field: str, ids: list[Any], of: list[Any]) -> None:
    """The list that `removal_benchmark.py --ids-to-remove-path` takes."""
    from pyarrow import parquet

    folder.mkdir(parents=True, exist_ok=True)
    aside = folder / f".{OUTPUT}.tmp"
    parquet.write_table(import_arrow().table({id_field: ids, "duplicate_of": of}), aside)
    aside.replace(folder / OUTPUT)


def recalls(known: Path, id_field: str, found: set[Any]) -> dict[str, float]:
    """Of the duplicates that `assay data documents` put in, the share that was found, by kind."""
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
    add("--output-path", type=Path, required=True, help=f"folder for {OUTPUT}: each id to remove, and what it repeats")
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
