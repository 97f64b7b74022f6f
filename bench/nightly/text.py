"""CPU of a document that is removed by its id, and of one whose text is looked for among all others."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import assay
from assay.benchmarks.data.documents import Corpus, write_documents
from assay.benchmarks.dedup_benchmark import main as find_duplicates
from assay.benchmarks.removal_benchmark import main as remove
from bench.nightly.calibrated import Calibrated

with assay.benchmark() as b, tempfile.TemporaryDirectory() as scratch:
    documents = b.param("documents", 40_000)
    root = Path(scratch)
    write_documents(root / "made", Corpus(documents, seed=3))
    ids = root / "ids.jsonl"
    ids.write_text("".join(f'{{"id": "doc-3-{number:09d}"}}\n' for number in range(0, documents, 7)))
    common = ["--benchmark-results-path", str(root / "results"), "--input-path", str(root / "made" / "documents")]

    def removed() -> None:
        words = ["--ids-to-remove-path", str(ids), "--output-path", str(root / "kept"), "--id-field", "id"]
        remove([*common, *words])

    def deduplicated() -> None:
        find_duplicates([*common, "--method", "exact", "--output-path", str(root / "same")])

    measured = Calibrated(b, "text", b.param("rounds", 5))
    measured.measure("cpu_us_per_document_removed", removed, documents)
    measured.measure("cpu_us_per_document_digested", deduplicated, documents)
    found = json.loads((root / "results" / "metrics.json").read_text())
    b.counts(num_documents=found["num_documents"], num_duplicates=found["num_duplicates"])
