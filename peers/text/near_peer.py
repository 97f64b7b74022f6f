"""Near duplicates by rensa, datasketch and datatrove, told the same as Assay: byte 24-grams of lowered text, 256
permutations, 32 bands of 8, similarity 0.8 (where a tool checks it). Imports no Assay.

    python near_peer.py WAY FOLDER OUT         writes OUT/duplicates.jsonl: {"id": …} for each document found

Grams are hashed by numpy for the tools that take hashes, the fastest way in.
"""

import json
import re
import struct
import sys
from pathlib import Path

import numpy as np
import orjson

WIDTH, PERMUTATIONS, BANDS, SIMILARITY, SEED = 24, 256, 32, 0.8, 1
BATCH = 1_000
BASE = 0x9E3779B97F4A7C15
SPACES = re.compile(rb"[ \t\n\r]+")


def documents(folder):
    for file in sorted(folder.glob("*.jsonl")):
        with file.open("rb") as lines:
            for line in lines:
                row = orjson.loads(line)
                yield row["id"], SPACES.sub(b" ", row["text"].encode().lower()).lstrip(b" ")


def batches(folder):
    held = []
    for document in documents(folder):
        held.append(document)
        if len(held) == BATCH:
            yield held
            held = []
    if held:
        yield held


def gram_hashes(text):
    """A polynomial of each gram, from those of half its length."""
    if len(text) < WIDTH:
        text = text.ljust(WIDTH, b"\0")
    digits = np.frombuffer(text, np.uint8).astype(np.uint64)
    held = {1: digits}
    for width, longer, shorter in ((2, 1, 1), (4, 2, 2), (8, 4, 4), (16, 8, 8), (24, 16, 8)):
        count = len(digits) - width + 1
        weight = np.uint64(pow(BASE, shorter, 1 << 64))
        held[width] = held[longer][:count] * weight + held[shorter][longer : longer + count]
    hashes = held[WIDTH]
    hashes ^= hashes >> np.uint64(29)
    return hashes * np.uint64(0xBF58476D1CE4E5B9)


def by_rensa(folder, digest):
    """Flags of documents that share a band with an earlier one, or with one of the same batch; nothing is checked."""
    from rensa import RMinHash, RMinHashLSH

    index = RMinHashLSH(SIMILARITY, PERMUTATIONS, BANDS)
    seen = 0
    for batch in batches(folder):
        hashes = [gram_hashes(text) for _, text in batch]
        offsets = np.zeros(len(batch) + 1, np.uint64)
        np.cumsum([len(each) for each in hashes], out=offsets[1:])
        matrix = getattr(RMinHash, digest)(np.concatenate(hashes), offsets, PERMUTATIONS, SEED)
        flags = index.insert_matrix_and_query_duplicate_flags(matrix, seen)
        seen += len(batch)
        yield from (name for (name, _), flag in zip(batch, flags, strict=True) if flag)


def rensa(folder, out):
    return by_rensa(folder, "digest_matrix_from_flat_token_hashes")


def rensa_rho(folder, out):
    return by_rensa(folder, "digest_matrix_from_flat_token_hashes_rho")


def datasketch(folder, out):
    from datasketch import MinHash, MinHashLSH

    index = MinHashLSH(num_perm=PERMUTATIONS, params=(BANDS, PERMUTATIONS // BANDS))
    held: dict = {}
    for name, text in documents(folder):
        made = MinHash(num_perm=PERMUTATIONS, seed=SEED)
        made.update_batch([text[at : at + WIDTH] for at in range(max(1, len(text) - WIDTH + 1))])
        if any(made.jaccard(held[other]) >= SIMILARITY for other in index.query(made)):
            yield name
        held[name] = made
        index.insert(name, made)


def datatrove(folder, out):
    """Its steps one after the other; which documents to remove is read from what its third step writes."""
    from datatrove.data import Document
    from datatrove.pipeline.dedup import minhash as steps

    # Its grams are of words; these need no tokenizer.
    steps.load_word_tokenizer = lambda language: None

    class SameGrams(steps.MinhashDedupSignature):
        def get_shingles(self, text):
            return gram_hashes(text).reshape(-1, 1)

    config = steps.MinhashConfig(num_buckets=BANDS, hashes_per_bucket=PERMUTATIONS // BANDS, seed=SEED)
    names = []

    def texts():
        for name, text in documents(folder):
            names.append(name)
            yield Document(text=text, id=name)

    signatures, buckets, removed = (str(out / step) for step in ("signatures", "buckets", "removed"))
    SameGrams(signatures, config).run(texts())
    for bucket in range(BANDS):
        steps.MinhashDedupBuckets(signatures, buckets, config=config).run(None, bucket, BANDS)
    steps.MinhashDedupCluster(buckets, removed, config=config).run()
    for file in sorted(Path(removed).glob("*.remove")):
        for (at,) in struct.iter_unpack("<I", file.read_bytes()):
            yield names[at]


if __name__ == "__main__":
    way, folder, out = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    with (out / "duplicates.jsonl").open("w") as written:
        written.writelines(json.dumps({"id": name}) + "\n" for name in globals()[way](folder, out))
