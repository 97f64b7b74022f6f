"""Text curation beside what people use: the same answers, CPU seconds with start-up and peak memory, on one core.

    python -m peers.text.compare --peers .peers/text/bin/python [removal exact extraction near] [--documents 200000]

Entrants take turns; the least of three rounds counts. Each contest is a function below that returns its entrants, the
first of them Assay's; another contest is another function in CONTESTS.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from peers.text.measured import ROUNDS, Cost, Entrant, alternate

HERE = Path(__file__).parent
BEFORE = "Assay before"
"""Entrant that is an earlier Assay: the present one may take a third of its CPU, and find no less."""

LOOSER = "Assay, similarity 0.5"
"""Entrant that is Assay told to find all that its peers, which check less or nothing, find."""


@dataclass(frozen=True)
class Contest:
    entrants: list[Entrant]
    """Assay first."""
    target: float
    """Highest CPU that Assay may take, as a share of the best other entrant's."""
    memory: bool = True
    """Whether its peak memory has to be below that of every peer too (of a peer's ways, the leanest counts)."""
    truth: Path | None = None
    """Known duplicates, where answers differ: each answer is judged by them."""


@dataclass(frozen=True)
class Given:
    scratch: Path
    python: str
    """Python of the peers' environment."""
    documents: int
    pages: int
    seed: int
    before: str
    """Checkout of an earlier Assay, or nothing."""


def assay(program: str, *words: str) -> list[str]:
    module = [sys.executable, "-m", f"assay.benchmarks.{program}", "--benchmark-results-path", "{out}/results"]
    return [*module, *words]


def corpus(given: Given) -> Path:
    """Made by another process: memory of this one would be counted to those that it starts."""
    folder = given.scratch / "corpus"
    if not folder.exists():
        size = ["--documents", str(given.documents), "--seed", str(given.seed)]
        generate("documents", folder, *size)
    return folder


def generate(kind: str, folder: Path, *words: str) -> None:
    subprocess.run([sys.executable, "-m", "assay", "data", kind, str(folder), *words], check=True, capture_output=True)


def removal(given: Given) -> Contest:
    folder = corpus(given)
    source, ids = str(folder / "documents"), str(folder / "duplicates.jsonl")
    words = ["--input-path", source, "--ids-to-remove-path", ids, "--output-path", "{out}/kept"]
    entrants = [Entrant("Assay", assay("removal_benchmark", *words), kept_rows)]
    for tool in ("polars", "duckdb"):
        for way in ("parsed", "lines"):
            command = [given.python, str(HERE / f"{tool}_peer.py"), f"removal_{way}", source, ids, "{out}"]
            entrants.append(Entrant(f"{tool}, {way}", command, kept_rows))
    return Contest(entrants, 0.6)


def kept_rows(out: Path) -> object:
    """Rows and a sum of their digests: order and spacing are each tool's own."""
    count = total = 0
    for file in [*out.glob("kept.jsonl"), *out.glob("kept/*.jsonl")]:
        with file.open("rb") as lines:
            for line in lines:
                row = json.loads(line)
                content = json.dumps([row["id"], row["url"], row["text"]]).encode()
                total += int.from_bytes(hashlib.blake2b(content, digest_size=8).digest())
                count += 1
    return count, total


def exact(given: Given) -> Contest:
    source = str(corpus(given) / "documents")
    words = ["--method", "exact", "--input-path", source, "--output-path", "{out}", "--output-format", "jsonl"]
    entrants = [Entrant("Assay", assay("dedup_benchmark", *words), repeats)]
    for tool, way in (("polars", "hashed"), ("polars", "grouped"), ("duckdb", "hashed"), ("duckdb", "md5")):
        command = [given.python, str(HERE / f"{tool}_peer.py"), f"exact_{way}", source, "{out}"]
        entrants.append(Entrant(f"{tool}, {way}", command, repeats))
    return Contest(entrants, 0.6)


def repeats(out: Path) -> object:
    with (out / "duplicates.jsonl").open("rb") as lines:
        return {row["id"]: row["duplicate_of"] for row in map(json.loads, lines)}


def extraction(given: Given) -> Contest:
    folder = given.scratch / "warc"
    generate("warc", folder, "--files", "2", "--pages", str(given.pages), "--seed", str(given.seed))
    words = ["--download_path", str(folder), "--output_path", "{out}/texts", "--output_format", "jsonl"]
    bare = [sys.executable, str(HERE / "bare_extraction.py"), str(folder), "{out}"]
    entrants = [Entrant("Assay", assay("common_crawl_benchmark", *words), pages)]
    return Contest([*entrants, Entrant("fastwarc, resiliparse", bare, pages)], 1.15, memory=False)


def pages(out: Path) -> object:
    files = [*out.glob("texts.jsonl"), *out.glob("texts/*.jsonl")]
    return sum(1 for file in files for _ in file.open("rb"))


def near(given: Given) -> Contest:
    """All documents. Rensa says which share a band with another; it checks no similarity and names no original."""
    folder = corpus(given)
    return nearly(given, folder, ["rensa", "rensa_rho"])


def near_small(given: Given) -> Contest:
    """One document in fifty: the tools that take a hundred times longer."""
    folder = given.scratch / "small"
    generate("documents", folder, "--documents", str(given.documents // 50), "--seed", str(given.seed))
    return nearly(given, folder, ["datasketch", "datatrove"])


def nearly(given: Given, folder: Path, ways: list[str]) -> Contest:
    source = str(folder / "documents")
    words = ["--method", "near", "--input-path", source, "--output-path", "{out}"]
    ours = assay("dedup_benchmark", *words, "--output-format", "jsonl")
    entrants = [Entrant("Assay", ours, named), Entrant(LOOSER, [*ours, "--similarity", "0.5"], named)]
    if given.before:
        path = f"PYTHONPATH={Path(given.before).resolve() / 'src'}"
        entrants.append(Entrant(BEFORE, ["env", path, *assay("dedup_benchmark", *words)], named))
    for way in ways:
        command = [given.python, str(HERE / "near_peer.py"), way, source, "{out}"]
        entrants.append(Entrant(way.replace("_", ", "), command, named))
    return Contest(entrants, 1.0, truth=folder / "duplicates.jsonl")


def named(out: Path) -> object:
    """Ids of the documents that were found."""
    if (out / "duplicates.parquet").exists():
        read = "import sys, pyarrow.parquet as p; print(*p.read_table(sys.argv[1])['id'].to_pylist())"
        return set(subprocess.check_output([sys.executable, "-c", read, out / "duplicates.parquet"], text=True).split())
    with (out / "duplicates.jsonl").open("rb") as lines:
        return {row["id"] for row in map(json.loads, lines)}


@dataclass(frozen=True)
class Quality:
    recall: float
    """Share of the known duplicates that was found."""
    precision: float
    """Share of what was found that repeats another document, or is repeated by one."""

    def __str__(self) -> str:
        return f" {self.recall:8.4f} {self.precision:10.4f}"

    @classmethod
    def of(cls, found: set[str], truth: Path) -> Quality:
        with truth.open("rb") as lines:
            known = [(row["id"], row["of"]) for row in map(json.loads, lines)]
        repeats, involved = {one for one, _ in known}, {one for pair in known for one in pair}
        return cls(len(found & repeats) / len(repeats), len(found & involved) / max(1, len(found)))


CONTESTS: dict[str, Callable[[Given], Contest]] = {
    "removal": removal,
    "exact": exact,
    "extraction": extraction,
    "near": near,
    "near_small": near_small,
}


def main() -> int:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("contests", nargs="*", metavar="CONTEST", help=f"default: {' '.join(CONTESTS)}")
    words.add_argument("--peers", required=True, help="python of the environment with polars and duckdb")
    words.add_argument("--documents", type=int, default=200_000)
    words.add_argument("--pages", type=int, default=5_000, help="pages in each of two archives")
    words.add_argument(
        "--before", default="", help="checkout of an earlier Assay, to measure near duplicates beside it"
    )
    words.add_argument("--rounds", type=int, default=ROUNDS)
    words.add_argument("--seed", type=int, default=int(time.time()), help="default: the time, so that it is a new one")
    args = words.parse_args()
    for name in args.contests:
        if name not in CONTESTS:
            words.error(f"{name}: there are {', '.join(CONTESTS)}")
    scratch = Path(tempfile.mkdtemp(prefix="peers-text-"))
    given = Given(scratch, os.path.abspath(args.peers), args.documents, args.pages, args.seed, args.before)
    print(f"seed {args.seed}, {args.documents} documents, load {os.getloadavg()[0]:.1f}", flush=True)
    try:
        met = [show(name, CONTESTS[name](given), scratch, args.rounds) for name in args.contests or CONTESTS]
        return 0 if all(met) else 1
    finally:
        shutil.rmtree(scratch)


def show(name: str, contest: Contest, scratch: Path, rounds: int) -> bool:
    costs, answers = alternate(contest.entrants, scratch, rounds, same=contest.truth is None)
    quality = {name: Quality.of(found, contest.truth) for name, found in answers.items()} if contest.truth else {}
    ours, others = costs.pop("Assay"), costs
    best = min(cost.cpu for name, cost in others.items() if name not in (BEFORE, LOOSER))
    print(f"\n{name:24} {'CPU s':>8} {'peak MB':>9} {'Assay / it':>11}" + "   recall  precision" * bool(quality))
    print(f"{'Assay':24} {ours.cpu:8.2f} {ours.memory_mb:9.0f} {'':11}{quality.get('Assay', '')}")
    for other, cost in others.items():
        share = ours.cpu / cost.cpu
        print(f"{other:24} {cost.cpu:8.2f} {cost.memory_mb:9.0f} {share:11.2f}{quality.get(other, '')}")
    met = ours.cpu <= contest.target * best and (not contest.memory or leaner(ours, others))
    if LOOSER in others:
        highest = max(quality[name].recall for name in others)
        met = met and others[LOOSER].cpu <= contest.target * best and quality[LOOSER].recall >= highest
    if BEFORE in others:
        was, now = quality[BEFORE], quality["Assay"]
        met = met and 3 * ours.cpu <= others[BEFORE].cpu and now.recall >= was.recall and now.precision >= was.precision
    best_share = f"{ours.cpu / best:.2f} of the best other's CPU (target {contest.target})"
    print(f"{'met' if met else 'MISSED'}: {best_share}", flush=True)
    return met


def leaner(ours: Cost, others: dict[str, Cost]) -> bool:
    return all(ours.memory_mb < cost.memory_mb for name, cost in others.items() if name != LOOSER)


if __name__ == "__main__":
    raise SystemExit(main())
