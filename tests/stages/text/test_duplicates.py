from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import Table
from pyarrow.parquet import write_table
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from assay.benchmarks.data.documents import TRUTH, Corpus, write_documents
from assay.errors import DataError
from assay.native import near_duplicates
from assay.pipeline import Pipeline
from assay.stages.text.documents import DocumentReader
from assay.stages.text.duplicate_pairs import (
    Confirm,
    Gather,
    KeyRanges,
    Pairs,
    duplicates,
    pair_documents,
    plain_confirm,
    plain_shared,
)
from assay.stages.text.key_store import BUCKETS, ExactKeys, KeyStore, KeyWriter, NearKeys, partition
from assay.stages.text.minhash import WIDTH, signatures
from assay.stages.text.text_column import TextColumn


def grams(text: str) -> set[bytes]:
    """What `minhash` says a document is, written plainly."""
    lowered = bytes(byte + 32 if 65 <= byte <= 90 else byte for byte in text.encode())
    spaced = lowered.translate(bytes.maketrans(b"\t\n\r", b"   "))
    words: list[bytes] = []
    for at in range(len(spaced)):
        if spaced[at] == 32 and (spaced[at - 1] == 32 if at else True):
            continue
        words.append(spaced[at : at + 1])
    collapsed = b"".join(words)
    return {collapsed[at : at + WIDTH] for at in range(len(collapsed) - WIDTH + 1)} or {collapsed}


def jaccard(a: str, b: str) -> float:
    return len(grams(a) & grams(b)) / len(grams(a) | grams(b))


def signed(texts: list[str]) -> np.ndarray:
    return signatures(TextColumn.packed([text.encode() for text in texts]))


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    write_documents(folder, Corpus(documents=1500, files=3, exact=0.1, near=0.15, edit=0.02, seed=5))
    return folder


def documents(folder: Path) -> dict[str, str]:
    files = sorted((folder / "documents").iterdir())
    rows = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    return {row["id"]: row["text"] for row in rows}


def identified(folder: Path, work: Path, method: type[ExactKeys | NearKeys], share: float) -> dict[str, str]:
    source = DocumentReader(str(folder / "documents"))
    store = KeyStore(Pipeline(source, [method("id", "text"), KeyWriter(work)]).run().outputs)
    found = Pipeline(KeyRanges(store), [Confirm(store, share), Gather()]).run().outputs
    repeated = duplicates(Pairs.concat(found))
    return dict(zip(store.ids(repeated.second), store.ids(repeated.first), strict=True))


def test_exact_duplicates_are_those_with_the_same_text(corpus: Path, tmp_path: Path) -> None:
    first: dict[str, str] = {}
    expected = {name: first[text] for name, text in documents(corpus).items() if first.setdefault(text, name) != name}
    assert len(expected) > 100
    assert identified(corpus, tmp_path, ExactKeys, 1.0) == expected


def test_near_duplicates_are_found_and_others_are_left_alone(corpus: Path, tmp_path: Path) -> None:
    texts = documents(corpus)
    found = identified(corpus, tmp_path, NearKeys, 0.8)
    known = [json.loads(line) for line in (corpus / TRUTH).read_text().splitlines()]
    alike = [(row["id"], row["of"], jaccard(texts[row["id"]], texts[row["of"]])) for row in known]
    clear = [name for name, _, similarity in alike if similarity >= 0.88]
    assert len(clear) > 150
    assert sum(name in found for name in clear) >= 0.99 * len(clear)
    # Nothing is removed that is not like something else: the closest of its group is at least nearly as similar.
    groups: dict[str, list[str]] = {}
    for name, of in found.items():
        groups.setdefault(of, [of]).append(name)
    for members in groups.values():
        for name in members[1:]:
            assert max(jaccard(texts[name], texts[other]) for other in members if other != name) > 0.7


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=120), st.text(max_size=120))
def test_equal_sets_of_grams_have_equal_signatures_and_only_those(a: str, b: str) -> None:
    one, other = signed([a, b])
    if grams(a) == grams(b):
        assert (one == other).all()
    elif not grams(a) & grams(b):
        assert (one == other).mean() < 0.05


def test_the_estimate_is_unbiased() -> None:
    rng = np.random.default_rng(3)
    words = [f"word{n}" for n in range(400)]
    errors = []
    for share in np.linspace(0.01, 0.3, 40):
        text = list(rng.choice(words, 300))
        edited = [str(rng.choice(words)) if rng.random() < share else word for word in text]
        a, b = " ".join(text), " ".join(edited)
        one, other = signed([a, b])
        errors.append((one == other).mean() - jaccard(a, b))
    assert abs(np.mean(errors)) < 0.015
    assert np.std(errors) < 0.06


def test_every_document_of_a_key_is_connected() -> None:
    found = pair_documents(np.array([1, 1, 1, 2, 3, 3], np.uint64), np.array([10, 11, 12, 13, 14, 14], np.uint64))
    assert set(zip(found.first.tolist(), found.second.tolist(), strict=True)) == {(10, 11), (10, 12), (11, 12)}
    nothing = pair_documents(np.zeros(0, np.uint64), np.zeros(0, np.uint64))
    assert len(duplicates(nothing)) == 0


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.lists(st.integers(0, 40), min_size=2, max_size=2), max_size=80), st.integers(1, 3), st.integers(0, 9)
)
def test_compiled_pairs_are_those_of_numpy(drawn: list[list[int]], splits: int, spread: int) -> None:
    # Few keys, so that many are shared; spread over buckets, or all in one.
    keys = np.array(drawn, np.uint64).reshape(-1, 2) << np.uint64(6 * spread)
    parts = [(at, *partition(keys[at::splits])) for at in range(splits)]
    for at, (_, ordered, rows, starts) in enumerate(parts):
        ours = keys[at::splits]
        assert sorted(zip(ordered.tolist(), rows.tolist(), strict=True)) == sorted(
            (key, row) for row, two in enumerate(ours.tolist()) for key in two
        )
        assert (ordered >> np.uint64(52) == np.repeat(np.arange(BUCKETS), np.diff(starts))).all()
    for first, last in ((0, BUCKETS), (0, 1), (1, BUCKETS)):
        found, plain = near_duplicates.find_pairs(parts, first, last), plain_shared(parts, first, last)
        assert found is not None
        assert len(found[0]) == len(plain)
        assert {*zip(*map(list, found), strict=True)} == {*zip(plain.first, plain.second, strict=True)}


def test_compiled_confirmation_is_that_of_numpy() -> None:
    rng = np.random.default_rng(5)
    proofs = [rng.integers(0, 2, (20, 33), np.uint32), None, rng.integers(0, 2, (30, 33), np.uint32)]
    first = rng.integers(0, 20, 300).astype(np.uint64)
    second = rng.integers(0, 30, 300).astype(np.uint64) | np.uint64(2 << 32)
    for least in (0, 15, 17, 33, 34):
        found = near_duplicates.confirm(proofs, first, second, least)
        assert found is not None
        assert (found == plain_confirm(proofs, Pairs(first, second), least)).all()


@pytest.mark.parametrize("native", ["none", "scalar", "avx2"])
def test_every_kernel_finds_the_same(native: str, corpus: Path, tmp_path: Path) -> None:
    def listed(level: str) -> tuple[bytes, str]:
        words = ["--method", "near", "--input-path", str(corpus / "documents"), "--output-path", str(tmp_path / level)]
        more = ["--output-format", "jsonl", "--benchmark-results-path", str(tmp_path / level / "results")]
        module = [sys.executable, "-m", "assay.benchmarks.dedup_benchmark", *words, *more]
        subprocess.run(module, check=True, env={**os.environ, "ASSAY_NATIVE": level})
        params = json.loads((tmp_path / level / "results" / "params.json").read_text())
        return (tmp_path / level / "duplicates.jsonl").read_bytes(), params["kernel"]

    found, kernel = listed(native)
    assert found == listed("avx512")[0]
    assert kernel.split()[0] == native


def test_parquet_and_compressed_lines_give_the_same(corpus: Path, tmp_path: Path) -> None:
    wanted = identified(corpus, tmp_path / "keys", NearKeys, 0.8)
    for name in ("parquet", "gz"):
        (tmp_path / name / "documents").mkdir(parents=True)
    for file in sorted((corpus / "documents").iterdir()):
        rows = [json.loads(line) for line in file.read_text().splitlines()]
        write_table(Table.from_pylist(rows), tmp_path / "parquet" / "documents" / f"{file.stem}.parquet")
        (tmp_path / "gz" / "documents" / f"{file.name}.gz").write_bytes(gzip.compress(file.read_bytes(), 1))
    for name in ("parquet", "gz"):
        assert identified(tmp_path / name, tmp_path / f"{name} keys", NearKeys, 0.8) == wanted


def test_ids_of_every_kind_come_back_as_they_were(tmp_path: Path) -> None:
    text = "the same text in every row, long enough for a gram"
    ids = ["a", '\u00e9 "quoted"', 7, -3, None, 2.5, 10**30]
    lines = [json.dumps({"id": one, "text": text}) for one in ids]
    # Escapes in the name of a field: only the strict parser reads this line.
    lines.insert(3, json.dumps({"id": "odd", "te\u0078t": text}).replace("text", "te\\u0078t"))
    (tmp_path / "rows.jsonl").write_text("\n".join(lines))
    store = KeyStore(
        Pipeline(DocumentReader(str(tmp_path / "rows.jsonl")), [NearKeys("id", "text"), KeyWriter(tmp_path / "keys")])
        .run()
        .outputs
    )
    rows = np.arange(len(lines), dtype=np.uint64)
    wanted = [json.loads(line)["id"] for line in lines]
    assert store.ids(rows)[:-1] == wanted[:-1]
    assert [json.loads(token) for token in store.id_tokens(rows)] == wanted


def test_of_a_chain_the_earliest_stays() -> None:
    found = duplicates(Pairs(np.array([5, 3, 8], np.uint64), np.array([7, 5, 9], np.uint64)))
    assert dict(zip(found.second.tolist(), found.first.tolist(), strict=True)) == {5: 3, 7: 3, 9: 8}


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=60))
def test_groups_are_what_scipy_says(edges: list[tuple[int, int]]) -> None:
    edges = [(min(edge), max(edge)) for edge in edges if edge[0] != edge[1]]
    first, second = (np.array([edge[side] for edge in edges], np.uint64) for side in (0, 1))
    found = duplicates(Pairs(first, second))
    graph = coo_matrix((np.ones(len(edges)), (first.astype(int), second.astype(int))), shape=(31, 31))
    _, group = connected_components(graph, directed=False)
    stays = {document: int(np.flatnonzero(group == group[document])[0]) for document in range(31)}
    wanted = {document: first for document, first in stays.items() if document != first}
    assert dict(zip(found.second.tolist(), found.first.tolist(), strict=True)) == wanted
    assert found.second.tolist() == sorted(wanted)


def test_text_that_is_no_text_is_named(tmp_path: Path) -> None:
    path = tmp_path / "odd.jsonl"
    path.write_text('{"id": "a", "text": "fine"}\n{"id": "b", "text": {"not": "text"}}\n')
    with pytest.raises(DataError, match=r"odd\.jsonl:2: text: not text but dict"):
        Pipeline(DocumentReader(str(path)), [ExactKeys("id", "text"), KeyWriter(tmp_path / "keys")]).run()
