"""Pickles damaged operation by operation, so that most of what comes out is still read to some depth."""

from __future__ import annotations

import pickle
import pickletools
import random
import struct
from collections import UserDict
from types import SimpleNamespace

_PIECES = (
    b"(", b")", b"]", b"}", b"N", b"\x88", b"0", b"2", b"1", b"l", b"d", b"t", b"\x85", b"\x86", b"\x87", b"a", b"e",
    b"s",
    b"u", b"b", b"R", b"\x81", b"\x92", b"Q", b"\x8f", b"\x90", b"\x91", b"\x93", b"\x94", b"h\x00", b"h\x01",
    b"q\x00",
    b"K\x07", b"\x8c\x01a", b"C\x02ab", b"cos\nsystem\n", b"cbuiltins\ngetattr\n", b"ccollections\nOrderedDict\n",
    b"ccopyreg\n_reconstructor\n", b"ctypes\nSimpleNamespace\n", b"I1\n", b"F1e999\n", b"\x8a\xff", b"\x97", b"\x98",
    b"\x8a\x08" + b"\xff" * 8, b"\x8d" + struct.pack("<Q", 2**60), b"\x96" + struct.pack("<Q", 2**60),
    b"\x95" + b"\xff" * 8,
    b"B" + struct.pack("<I", 2**31), b"r\xff\xff\xff\x7f", b"j\xff\xff\xff\x7f", b"\x82\x01", b"Pid\n", b"V\\ud800\n",
)  # fmt: skip
"""Operations, with an argument where they take one: calls, lengths beyond the file, memo places far away."""


def right_pickle() -> bytes:
    """A pickle in the shape that NeMo Curator leaves: tasks with a list of timed stages each."""
    perf = UserDict({"process_time": 0.5, "num_items": 3})
    perf.stage_name = "stage"  # type: ignore[attr-defined]
    return pickle.dumps([SimpleNamespace(task_id=str(n), _stage_perf=[perf]) for n in range(2)], protocol=4)


def damaged_pickle(data: bytes, rng: random.Random) -> bytes:
    operations = _operations(data)
    for _ in range(rng.choice((1, 2, 4, 16))):
        at = rng.randrange(len(operations))
        how = rng.randrange(6)
        if how == 0:
            del operations[at]
        elif how == 1:
            operations.insert(at, operations[rng.randrange(len(operations))])
        elif how == 2:
            operations[at:at] = [rng.choice(_PIECES)] * rng.choice((1, 2, 60, 5000))
        elif how == 3:
            operations[at] = rng.choice(_PIECES)
        elif how == 4:
            operations[at:at] = [b"2", b"\x86"] * 60
        else:
            del operations[at:]
        operations = operations or [b"."]
    made = b"".join(operations)
    return made if rng.random() < 0.1 else made + b"."


def _operations(data: bytes) -> list[bytes]:
    """Frames are left out: their lengths would no longer fit."""
    starts = [(operation.name, at) for operation, _, at in pickletools.genops(data)]
    ends = [at for _, at in starts[1:]] + [len(data)]
    return [data[at:end] for (name, at), end in zip(starts, ends, strict=True) if name != "FRAME"]
