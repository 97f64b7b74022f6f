from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

_BYTES = b'"\\{}[]:, \n\r\t0123456789.-+eEu\x00\x7f\x80\xc2\xe2\xed\xf0\xff'
_MOST_CHANGES = 4


def mutants(corpus: Sequence[bytes], words: Sequence[bytes], rng: random.Random) -> Iterator[bytes]:
    """Inputs of a corpus with a few bytes changed, for ever: replaced, removed, doubled, or taken from another."""
    while True:
        data = bytearray(rng.choice(corpus))
        for _ in range(rng.randint(1, _MOST_CHANGES)):
            at = rng.randrange(len(data) + 1)
            length = rng.randint(1, 1 << rng.randint(0, 5))
            kind = rng.randrange(6)
            if kind == 0:
                data[at : at + 1] = bytes([rng.choice(_BYTES)])
            elif kind == 1:
                del data[at : at + length]
            elif kind == 2:
                data[at:at] = data[at : at + length]
            elif kind == 3:
                data[at:at] = rng.choice(words) if words else bytes([rng.choice(_BYTES)])
            elif kind == 4:
                other = rng.choice(corpus)
                begin = rng.randrange(len(other) + 1)
                data[at : at + length] = other[begin : begin + length]
            elif at < len(data):
                data[at] ^= 1 << rng.randrange(8)
        yield bytes(data)
