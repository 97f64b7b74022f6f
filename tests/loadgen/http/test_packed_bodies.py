from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from assay.errors import DataError
from assay.loadgen.http.exchanges import read_bodies, unpack_plain, write_bodies
from assay.loadgen.http.server import chat_event

STREAM = b"".join(chat_event({"content": f"word{number} "}) for number in range(20_000))
SAMPLES = {
    "nothing": b"",
    "a byte": b"x",
    "twelve": b"x" * 12,
    "thirteen": b"x" * 13,
    "zeros": bytes(3_000_000),
    "noise": random.Random(1).randbytes(100_000),
    "stream": STREAM,
    "far repeat": random.Random(2).randbytes(70_000) * 2,
}


@pytest.mark.parametrize("name", SAMPLES)
def test_bodies_come_back_as_they_were(name: str, tmp_path: Path) -> None:
    path = tmp_path / "bodies.lz4"
    write_bodies(path, np.frombuffer(SAMPLES[name], np.uint8))
    assert read_bodies(path).tobytes() == SAMPLES[name]
    if name == "stream":
        data = path.read_bytes()
        assert len(data) < len(STREAM) / 8
        first = int.from_bytes(data[:4], "little")
        assert unpack_plain(data[8 : 8 + first]) == STREAM[: 1 << 20]


def test_a_damaged_file_is_refused_or_read_but_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "bodies.lz4"
    write_bodies(path, np.frombuffer(STREAM[:5000], np.uint8))
    whole, rng, refused = path.read_bytes(), random.Random(3), 0
    for _ in range(500):
        data = bytearray(whole[: rng.randrange(1, len(whole) + 1)])
        data[rng.randrange(len(data))] ^= rng.randrange(1, 256)
        path.write_bytes(data)
        try:
            read_bodies(path)
        except DataError:
            refused += 1
    assert refused > 250
