"""Runs of 32-bit numbers in memory, which compiled loops over arrays write one by one."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core.cgutils import raw_memcpy
from numba.extending import intrinsic

from assay.weights.codec.lanes.lanes import I8, I32, POINTER, WIDTH, splat, vector_of


@intrinsic
def load_number(typing, start, place):  # type: ignore[no-untyped-def]
    """The 32-bit number at any byte behind the address `start`, aligned or not."""

    def code(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        address, place = arguments
        at = builder.gep(builder.inttoptr(address, POINTER), [place], source_etype=I8)
        return builder.load(at, typ=I32, align=1)

    return types.uint32(types.uint64, types.int64), code


@intrinsic
def store_rising(typing, start, place, first):  # type: ignore[no-untyped-def]
    """Stores `first` and the numbers above it, `WIDTH` in all, at a place behind the address `start`."""

    def code(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        address, place, first = arguments
        at = builder.gep(builder.inttoptr(address, POINTER), [place], source_etype=I32)
        rising = ir.Constant(vector_of(I32), list(range(WIDTH)))
        builder.store(builder.add(splat(builder, first, vector_of(I32)), rising), at, align=1)
        return _context.get_dummy_value()

    return types.void(types.uint64, types.int64, types.uint64), code


@intrinsic
def copy_numbers(typing, start, place, to, count):  # type: ignore[no-untyped-def]
    """Copies `count` numbers from one place behind the address `start` to another; the two do not overlap."""

    def code(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        address, *places, count = arguments
        numbers = builder.inttoptr(address, POINTER)
        source, target = (builder.gep(numbers, [place], source_etype=I32) for place in places)
        raw_memcpy(builder, target, source, count, 4)
        return _context.get_dummy_value()

    return types.void(types.uint64, types.int64, types.int64, types.int64), code
