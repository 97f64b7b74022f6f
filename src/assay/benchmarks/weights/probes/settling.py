from __future__ import annotations

import ctypes
import gc
import mmap

import numpy as np

_MOST_TOUCHED = 1 << 30


def settle() -> int:
    """Garbage collected and free pages given back: what is left is what something still refers to.

    Says how many objects were unreachable. An operation timed after it pays for the memory it takes, as it would in a
    process that has just started.
    """
    unreachable = gc.collect()
    _give_back()
    return unreachable


def _give_back() -> None:
    ctypes.CDLL(None).malloc_trim(0)


def settle_machine(nbytes: int) -> None:
    """`settle`, then that much memory (at most 1 GB) touched and given back, before an operation that is to be timed.

    A virtual machine returns memory that has been free for seconds to its host, and getting it back takes many times
    as long as clearing it does. Whether an operation meets such memory is chance, and no property of a store.
    """
    settle()
    room = np.empty(min(nbytes, _MOST_TOUCHED), np.uint8)
    room[:: mmap.PAGESIZE] = 1
    del room
    _give_back()
