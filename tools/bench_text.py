"""Text curation against the usual tools: CPU of whole processes, each pair in the same run; once as it is, once with
the CPU of a run on next to nothing taken off both.

    python -m tools.bench_text PYTHON_OF_THE_PEERS

The peers: warcio and trafilatura; pandas; pandas and md5; datasketch with the same grams and permutations.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from assay.benchmarks.data.documents import TRUTH, Corpus, write_documents
from assay.benchmarks.data.warc_files import write_warc_files

PAGES, DOCUMENTS, NEAR_DOCUMENTS = 4_000, 40_000, 4_000
SEED = 20261


def cpu_of(argv: list[str]) -> tuple[float, str]:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(argv, check=True, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout.strip()


def ours(folder: Path, program: str, *words: str) -> tuple[float, dict[str, object]]:
    results = folder / "results"
    module = ["-m", f"assay.benchmarks.{program}", "--benchmark-results-path", str(results)]
    cpu, _ = cpu_of([sys.executable, *module, *words])
    written = json.loads((results / "metrics.json").read_text())
    return cpu, {name: value["value"] if isinstance(value, dict) else value for name, value in written.items()}


def main(peer_python: str) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch)
        print(f"{'':12} {'Assay':>10} {'usual':>10} {'ratio':>8}  {'without start-up':>17}   found by each")
        for what in ("extraction", "removal", "exact", "near"):
            pages, documents = PAGES, NEAR_DOCUMENTS if what == "near" else DOCUMENTS
            idle = measure(what, root / f"{what}-idle", peer_python, 2, 20)
            full = measure(what, root / what, peer_python, pages, documents)
            net = (full.peer - idle.peer) / (full.ours - idle.ours)
            print(
                f"{what:12} {full.ours:8.2f} s {full.peer:8.2f} s {full.peer / full.ours:7.1f}x {net:16.1f}x "
                f"  {full.our_answer} / {full.peer_answer}",
                flush=True,
            )


@dataclass(frozen=True)
class Pair:
    ours: float
    peer: float
    our_answer: object
    peer_answer: str


def measure(what: str, root: Path, peer_python: str, pages: int, documents: int) -> Pair:
    data, out = root / "data", root / "out"
    out.mkdir(parents=True)
    parts, known = ["--output-path", str(out / "parts")], str(data / TRUTH)
    if what == "extraction":
        write_warc_files(data, 2, pages // 2, SEED)
        theirs = [str(data), str(out / "peer.jsonl")]
        program, metric = "common_crawl_benchmark", "num_documents"
        words = ["--download_path", str(data), "--output_path", str(out / "parts"), "--output_format", "jsonl"]
    else:
        write_documents(data, Corpus(documents, seed=SEED))
        words = ["--input-path", str(data / "documents"), *parts]
        if what == "removal":
            theirs = [str(data), known, str(out)]
            program, metric = "removal_benchmark", "num_removed"
            words += ["--ids-to-remove-path", known]
        else:
            theirs = [str(data)]
            program, metric = "dedup_benchmark", "num_duplicates"
            words += ["--method", what]
    cpu, metrics = ours(root, program, *words)
    peer, answer = cpu_of([peer_python, str(Path(__file__).with_name("text_peer.py")), what, *theirs])
    return Pair(cpu, peer, metrics[metric], answer)


if __name__ == "__main__":
    main(sys.argv[1])
