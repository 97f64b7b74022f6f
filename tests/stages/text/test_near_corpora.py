"""Near duplicates in corpora of other kinds than `assay data documents` makes: found, others left alone, and no more
pairs than a few for each document, whatever the documents are."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from assay.benchmarks.dedup_benchmark import main

Corpus = tuple[list[str], set[int], set[int]]
"""Texts; those that have to be found; those that may be."""

SCRIPTS = {
    "latin": "abcdefghijklmnopqrstuvwxyz",
    "cyrillic": "абвгдежзийклмнопрстуфхцчшщыэюя",
    "han": "".join(chr(0x4E00 + at) for at in range(600)),
    "arabic": "ابتثجحخدذرزسشصضطظعغفقكلمنهوي",
    "thai": "กขคงจฉชซญดตถทนบปผพฟมยรลวศสหอ",
    "emoji": "".join(chr(0x1F600 + at) for at in range(60)),
}


def written(rng: Random, letters: str, words: int) -> str:
    spaced = " " if len(letters) < 100 else ""
    return spaced.join("".join(rng.choices(letters, k=rng.randint(2, 9))) for _ in range(words))


def changed(rng: Random, text: str, places: int) -> str:
    pieces = list(text)
    for _ in range(places):
        pieces[rng.randrange(len(pieces))] = rng.choice(("", "#", "  "))
    return "".join(pieces)


def many_scripts(rng: Random) -> Corpus:
    """Every script, lengths from a few hundred bytes to 60 kB, one place in 2,000 letters changed."""
    texts: list[str] = []
    found: set[int] = set()
    for _ in range(160):
        letters = rng.choice(list(SCRIPTS.values()))
        text = written(rng, letters, int(60 * 10 ** rng.uniform(0, 2)))
        texts.append(text)
        if rng.random() < 0.4:
            found.add(len(texts))
            texts.append(changed(rng, text, max(1, len(text) // 2_000)))
    return texts, found, found


def exact_copies(rng: Random) -> Corpus:
    """Few texts, each many times: what boilerplate is."""
    originals = [written(rng, SCRIPTS["latin"], rng.randint(5, 200)) for _ in range(12)]
    texts = originals + [rng.choice(originals) for _ in range(1_500)]
    found = set(range(len(originals), len(texts)))
    return texts, found, found


def one_cluster(rng: Random) -> Corpus:
    """All like one text, each in its own way."""
    text = written(rng, SCRIPTS["latin"], 400)
    texts = [text] + [changed(rng, text, 2) for _ in range(1_500)]
    return texts, set(range(1, len(texts))), set(range(1, len(texts)))


def short_ones(rng: Random) -> Corpus:
    """Shorter than a gram: those repeat another that are the same but for case and runs of white space."""
    texts, found, seen = [], set(), set()
    for _ in range(1_500):
        text = "".join(rng.choices("aAb \t", k=rng.randint(0, 12)))
        normal = re.sub(r"\s+", " ", text).lstrip().lower()
        if normal in seen:
            found.add(len(texts))
        seen.add(normal)
        texts.append(text)
    return texts, found, found


def strangers(rng: Random) -> Corpus:
    """None is like another, though all share a paragraph that is a third of each."""
    shared = written(rng, SCRIPTS["latin"], 60)
    texts = [shared + " " + written(rng, SCRIPTS["latin"], 140) for _ in range(800)]
    return texts, set(), set()


def identified(folder: Path, texts: list[str], ascii_only: bool) -> tuple[dict[int, int], dict[str, float]]:
    lines = [json.dumps({"text": text, "id": at}, ensure_ascii=ascii_only) for at, text in enumerate(texts)]
    source, out, results = folder / "in", folder / "out", folder / "results"
    source.mkdir(parents=True)
    for part in range(3):
        at, end = (len(lines) * side // 3 for side in (part, part + 1))
        (source / f"{part}.jsonl").write_text("".join(line + "\n" for line in lines[at:end]), encoding="utf-8")
    words = ["--method", "near", "--input-path", str(source), "--output-path", str(out), "--output-format", "jsonl"]
    assert main([*words, "--benchmark-results-path", str(results)]) == 0
    rows = [json.loads(line) for line in (out / "duplicates.jsonl").read_text().splitlines()]
    metrics = json.loads((results / "metrics.json").read_text())
    return {row["id"]: row["duplicate_of"] for row in rows}, metrics


@pytest.mark.parametrize("made", [many_scripts, exact_copies, one_cluster, short_ones, strangers])
def test_what_repeats_is_found_and_work_stays_linear(made: Callable[[Random], Corpus], tmp_path: Path) -> None:
    texts, wanted, allowed = made(Random(made.__name__))
    found, metrics = identified(tmp_path / "plain", texts, ascii_only=False)
    assert len(wanted & found.keys()) >= 0.99 * len(wanted)
    assert len(found.keys() - allowed) <= 0.002 * len(texts)
    assert all(of < name for name, of in found.items())
    # Two pairs a key at most, 32 keys a document: a cluster of any size is no square of it.
    assert metrics["num_candidate_pairs"] <= 64 * len(texts)
    escaped, _ = identified(tmp_path / "escaped", texts, ascii_only=True)
    assert escaped == found


def test_a_list_in_another_format_of_an_earlier_run_does_not_stay(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "duplicates.parquet").write_bytes(b"of an earlier run")
    identified(tmp_path, ["one text"] * 3, ascii_only=True)
    assert [file.name for file in (tmp_path / "out").iterdir()] == ["duplicates.jsonl"]
