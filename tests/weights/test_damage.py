"""Every changed byte is noticed and named; a pack made to do harm is refused."""

from __future__ import annotations

import json
import math
import struct

import numpy as np
import pytest

from assay.errors import AssayError, DataError
from assay.weights.codec.chunk import decode_chunk, encode_chunk
from assay.weights.codec.codec_methods import Method
from assay.weights.element_types import ELEMENT_TYPES, bits_of, bytes_digest
from assay.weights.packs.pack_files import END, FOOTER, MAGIC, PackReader, pack_index
from assay.weights.packs.tensor_record import ChunkPlace, TensorRecord
from assay.weights.repository import Repository


@pytest.mark.slow
def test_every_flipped_byte_is_detected(tmp_path, rng):
    repo = Repository.init(tmp_path / "r", "small")
    base = rng.standard_normal(400).astype(np.float32)
    repo.commit({"w": base, "b": base[:3]}, "first")
    repo.commit({"w": base + np.float32(1e-3), "b": base[:4]}, "second")
    repo.tag("v1")
    assert repo.stats().deltas == 1
    checked = 0
    for path in sorted(p for p in (tmp_path / "r").rglob("*") if p.is_file()):
        whole = path.read_bytes()
        for place in range(len(whole)):
            damaged = bytearray(whole)
            damaged[place] ^= 1 << (place % 8)
            path.write_bytes(damaged)
            try:
                problems = Repository.open(tmp_path / "r").verify().problems
            except AssayError as error:
                problems = (str(error),)
            assert problems, (path, place)
            checked += 1
        path.write_bytes(whole)
    assert checked > 1500
    assert Repository.open(tmp_path / "r").verify().passed


def test_a_damaged_byte_is_named_on_read(tmp_path, rng):
    repo = Repository.init(tmp_path / "r")
    commit_id = repo.commit({"w": rng.standard_normal(5000).astype(np.float32)})
    (pack,) = (tmp_path / "r" / "packs").iterdir()
    data = bytearray(pack.read_bytes())
    data[300] ^= 4
    pack.write_bytes(data)
    with pytest.raises(DataError, match=rf"{pack.name} is damaged between bytes \d+ and \d+"):
        Repository.open(tmp_path / "r").checkout(commit_id)


@pytest.mark.parametrize("setting", ["small", "balanced", "fast"])
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_damage_anywhere_in_a_chain_is_named_whatever_decoding_made_of_it(tmp_path, rng, dtype, setting):
    """Checksums are compared after decoding: of a base that is read where it lies, and of every difference to it."""
    repo = Repository.init(tmp_path / "r", {"setting": setting})
    weights = rng.standard_normal(20_000)
    for step in range(3):
        last = repo.commit({"w": (weights * (1 + step * 1e-3)).astype(dtype)})
    (entry,) = repo.show(last).entries
    needed = bytes.fromhex(entry.digest)
    while needed is not None:
        pack, record = repo.objects.find(needed)
        whole = pack.path.read_bytes()
        (place,) = record.chunks
        for at in rng.integers(place.offset, place.offset + place.length, 40):
            damaged = bytearray(whole)
            damaged[at] ^= 1 << int(rng.integers(0, 8))
            pack.path.write_bytes(damaged)
            with pytest.raises(DataError, match=rf"{pack.path.name} is damaged between bytes {place.offset} and"):
                Repository.open(tmp_path / "r").checkout(last)
        pack.path.write_bytes(whole)
        needed = record.base
    assert record.depth == 0
    assert Repository.open(tmp_path / "r").verify().passed


def write_pack(path, records, chunks=b"", index=None):
    from xxhash import xxh3_64_intdigest
    from zstandard import ZstdCompressor

    packed = ZstdCompressor().compress(index if index is not None else pack_index(records))
    body = MAGIC + chunks
    path.write_bytes(body + packed + FOOTER.pack(len(body), len(packed), xxh3_64_intdigest(packed), END))


def record(shape, chunks, base=None, depth=0, digest=b"d" * 24, dtype="float32"):
    return TensorRecord(digest, ELEMENT_TYPES[dtype], shape, base, depth, False, 0, chunks, math.prod(shape))


def test_a_pack_that_claims_a_huge_size(tmp_path):
    path = tmp_path / "p.pack"
    for shape in ((1 << 40,), (1 << 62, 1 << 62), (2**63, 2)):
        write_pack(path, [record(shape, (ChunkPlace(8, 16, Method.RAW, 0),))], bytes(16))
        with pytest.raises(DataError, match="claims a tensor of shape"):
            PackReader(path).record(b"d" * 24)


@pytest.mark.parametrize(
    ("records", "message"),
    [
        ([record((4,), (ChunkPlace(8, 1 << 20, Method.RAW, 0),))], "beyond the end"),
        ([record((4,), (ChunkPlace(8, 16, 77, 0),))], "makes no sense"),
        ([record((4,), (ChunkPlace(8, 0, Method.RAW, 0),))], "makes no sense"),
        ([record((1,) * 65, (ChunkPlace(8, 4, Method.RAW, 0),))], "65 dimensions"),
    ],
)
def test_hostile_indexes(tmp_path, records, message):
    write_pack(tmp_path / "p.pack", records, bytes(16))
    with pytest.raises(DataError, match=message):
        PackReader(tmp_path / "p.pack").record(b"d" * 24)


def test_an_index_that_expands_without_end(tmp_path):
    write_pack(tmp_path / "p.pack", [], index=bytes((1 << 28) + 1))
    assert (tmp_path / "p.pack").stat().st_size < 1 << 20
    with pytest.raises(DataError, match="larger than any index"):
        PackReader(tmp_path / "p.pack")
    for index in (b"\x01" * 33, b"\xff" * 33, b"\x02" + bytes(40), struct.pack("<III", 2, 30, 2**32 - 1) + bytes(29)):
        write_pack(tmp_path / "p.pack", [], index=index)
        with pytest.raises(DataError, match=r"ends inside a record|makes no sense"):
            PackReader(tmp_path / "p.pack")
    # Lengths that cut a record short, or leave something behind it, are not believed either.
    whole = pack_index([record((4,), (ChunkPlace(8, 16, Method.RAW, 0),))])
    write_pack(tmp_path / "p.pack", [], bytes(16), struct.pack("<II", 1, len(whole) - 18) + whole[8:-10])
    with pytest.raises(DataError, match=r"ends inside a record|claims a tensor"):
        PackReader(tmp_path / "p.pack").record(b"d" * 24)


def test_bases_that_refer_in_a_circle(repo):
    from xxhash import xxh3_64_intdigest

    one, two = b"1" * 24, b"2" * 24
    same = (ChunkPlace(8, 0, Method.SAME, xxh3_64_intdigest(b"")),)
    for depths in ((1, 1), (1, 2), (2, 1)):
        records = [record((4,), same, two, depths[0], one), record((4,), same, one, depths[1], two)]
        write_pack(repo.path / "packs" / f"{depths[0]}{depths[1]}.pack", records)
        fresh = Repository.open(repo.path)
        with pytest.raises(DataError, match="cannot be one"):
            fresh.objects.read(one)
        (repo.path / "packs" / f"{depths[0]}{depths[1]}.pack").unlink()


def test_a_commit_made_to_do_harm(repo, tmp_path):
    from zstandard import ZstdCompressor

    hostile = [
        {"parents": ["../../etc"], "message": "", "branch": "", "created_at": 0, "entries": []},
        {"parents": [], "message": "", "branch": "", "created_at": 0, "entries": [["w", "float32", [-1], "0" * 48]]},
        {"parents": [], "message": "", "branch": "", "created_at": 0, "entries": [["w", "object", [1], "0" * 48]]},
        {"parents": [], "message": "", "branch": "", "created_at": 0, "entries": [["w", "int8", [1], "../" * 16]]},
        {"entries": 3},
        [],
    ]
    for body in hostile:
        data = ZstdCompressor().compress(json.dumps(body).encode())
        commit_id = bytes_digest(data).hex()
        (repo.path / "commits" / commit_id).write_bytes(data)
        with pytest.raises(DataError, match=r"not a commit|makes no sense"):
            repo.checkout(commit_id)


@pytest.mark.parametrize("name", ["../x", "/etc/passwd", "a/../b", "", "a b", "-x", "0" * 48, "a//b", "x\n"])
def test_names_of_branches_never_leave_the_repository(repo, name):
    repo.commit({"w": np.zeros(3, np.float32)})
    with pytest.raises(AssayError, match="cannot name a branch or tag"):
        repo.branch(name)


CODERS = sorted(set(Method) - {Method.SAME, Method.LOSSY_INT8, Method.LOSSY_INT16})
CODED = [
    (method, dtype)
    for method in CODERS
    for dtype in ("float32", "bfloat16", "float8_e5m2", "float64", "int16")
    # Elements of 64 bits are never tokens; a leading byte is one of two or four; short codes are for two.
    if not (ELEMENT_TYPES[dtype].bits == 64 and method in (Method.DIFFERENCE, Method.XOR))
    if not (method is Method.LEADING and ELEMENT_TYPES[dtype].bits not in (16, 32))
    if not (method is Method.SHORT and ELEMENT_TYPES[dtype].bits != 16)
]


@pytest.mark.parametrize(("method", "dtype"), CODED)
@pytest.mark.parametrize("size", [700, 9000])
def test_changed_chunks_never_read_outside(method, dtype, size):
    """A stranger's bytes reach the decoders if checksums are made to match: each refuses or returns something."""
    kind = ELEMENT_TYPES[dtype]
    rng = np.random.default_rng(size)
    base = bits_of((rng.standard_normal(size) * 50).astype(kind.numpy))
    bits = base ^ (rng.random(size) < 0.1).astype(base.dtype) * base.dtype.type(5)
    chunk = encode_chunk(method, bits, base, kind)
    refused = 0
    for trial in range(120):
        data = bytearray(chunk.data)
        if trial % 4 == 0:
            data = data[: rng.integers(0, len(data) + 1)]
        elif trial % 4 == 1:
            data += bytes(rng.integers(0, 256, 40, dtype=np.uint8))
        elif trial % 4 == 2:
            data[int(rng.integers(0, min(64, len(data))))] ^= int(rng.integers(1, 256))
        else:
            data[int(rng.integers(0, len(data)))] ^= int(rng.integers(1, 256))
        out = np.empty_like(bits)
        try:
            decode_chunk(chunk.method, memoryview(bytes(data)), base, kind, out)
        except DataError:
            refused += 1
    assert refused >= 30


def test_a_reference_to_nowhere_is_a_problem(repo):
    repo.commit({"w": np.zeros(3, np.float32)})
    (commit,) = (repo.path / "commits").iterdir()
    commit.unlink()
    problems = Repository.open(repo.path).verify().problems
    assert any("main refers to commit" in problem for problem in problems)
    assert struct.calcsize(FOOTER.format) == FOOTER.size
