"""Sixteen numbers at once: the vector operations of LLVM that the entropy coder's loops are written in.

No compiler finds gathers, expanding loads and compressing stores by itself. On a processor with AVX-512 they are
single instructions; on any other LLVM spells them out, with the same result.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir

WIDTH = 16
VECTORS = 4
LANES = WIDTH * VECTORS

I1, I8, I16, I32, I64 = (ir.IntType(bits) for bits in (1, 8, 16, 32, 64))
ELEMENTS = {8: I8, 16: I16, 32: I32}
POINTER = ir.PointerType()


def vector_of(element: Any) -> Any:
    return ir.VectorType(element, WIDTH)


def all_lanes(element: Any, value: int) -> Any:
    return ir.Constant(vector_of(element), [value] * WIDTH)


def splat(builder: Any, value: Any, kind: Any) -> Any:
    """The low bits of a 64-bit number in every lane."""
    nothing = ir.Constant(kind, ir.Undefined)
    first = builder.insert_element(nothing, builder.trunc(value, kind.element), I32(0))
    return builder.shuffle_vector(first, nothing, ir.Constant(ir.VectorType(I32, kind.count), [0] * kind.count))


def function_of(builder: Any, name: str, result: Any, arguments: list[Any]) -> Any:
    known = builder.module.globals
    return known[name] if name in known else ir.Function(builder.module, ir.FunctionType(result, arguments), name)


def halves(builder: Any, value: Any, parts: int) -> list[Any]:
    """A register's elements as vectors of 32 bits: of 32 elements the even ones and the odd ones, without a shuffle."""
    if parts == 1:
        return [value]
    pairs = builder.bitcast(value, vector_of(I32))
    return [builder.and_(pairs, all_lanes(I32, 0xFFFF)), builder.lshr(pairs, all_lanes(I32, 16))]


def joined(builder: Any, parts: list[Any]) -> Any:
    """The opposite; they are below 2**16."""
    if len(parts) == 1:
        return parts[0]
    even, odd = parts
    pairs = builder.or_(even, builder.shl(odd, all_lanes(I32, 16)))
    return builder.bitcast(pairs, ir.VectorType(I16, 2 * WIDTH))


def load(builder: Any, start: Any, element: Any, place: Any, parts: int) -> list[Any]:
    """Elements of 16 or 32 bits from `place` on as vectors of 32 bits, as `halves` divides them."""
    found = builder.load(
        builder.gep(start, [place], source_etype=element), typ=ir.VectorType(element, WIDTH * parts), align=1
    )
    if parts == 1:
        return [found if element is I32 else builder.zext(found, vector_of(I32))]
    return halves(builder, found, parts)


def gather(builder: Any, table: Any, index: Any, element: Any) -> Any:
    pointers = ir.VectorType(ir.PointerType(), WIDTH)
    places = builder.gep(table, [index], source_etype=element)
    places.type = pointers  # one address per lane: llvmlite takes the type of the scalar base
    name = f"llvm.masked.gather.v{WIDTH}i{element.width}.v{WIDTH}p0"
    function = function_of(builder, name, vector_of(element), [pointers, I32, vector_of(I1), vector_of(element)])
    return builder.call(function, [places, I32(element.width // 8), all_lanes(I1, 1), all_lanes(element, 0)])


def count(builder: Any, mask: Any) -> Any:
    function = function_of(builder, f"llvm.ctpop.i{WIDTH}", I16, [I16])
    return builder.zext(builder.call(function, [builder.bitcast(mask, I16)]), I64)


def when_any(builder: Any, mask: Any, values: list[Any], more: Callable[[], list[Any]]) -> list[Any]:
    """What `more` makes of the values if any lane needs it, which for many tensors is almost never."""
    before = builder.block
    with builder.if_then(builder.icmp_unsigned("!=", builder.bitcast(mask, I16), I16(0))):
        changed, inside = more(), builder.block
    chosen = []
    for old, new in zip(values, changed, strict=True):
        phi = builder.phi(old.type)
        phi.add_incoming(old, before)
        phi.add_incoming(new, inside)
        chosen.append(phi)
    return chosen


def expand_words(builder: Any, words: Any, place: Any, mask: Any) -> Any:
    """The next words, one for each lane of the mask; 0 in the others."""
    name, kind = f"llvm.masked.expandload.v{WIDTH}i16", vector_of(I16)
    function = function_of(builder, name, kind, [POINTER, vector_of(I1), kind])
    found = builder.call(function, [builder.gep(words, [place], source_etype=I16), mask, all_lanes(I16, 0)])
    return builder.zext(found, vector_of(I32))


def compress_words(builder: Any, value: Any, words: Any, place: Any, mask: Any) -> None:
    """The low words of the lanes of the mask, side by side from `place` on."""
    name, kind = f"llvm.masked.compressstore.v{WIDTH}i16", vector_of(I16)
    function = function_of(builder, name, ir.VoidType(), [kind, POINTER, vector_of(I1)])
    builder.call(function, [builder.trunc(value, kind), builder.gep(words, [place], source_etype=I16), mask])


class Loop:
    """Rounds over all lanes, with the states and the place in the words carried from round to round.

    Ends after `steps` rounds, or before one that begins beyond the place `limit`.
    """

    def __init__(self, builder: Any, steps: Any, states: Any, limit: Any = None) -> None:
        self.builder, self._states = builder, states
        zero = I64(0)
        entry = builder.block
        self._first = [builder.load(self._state(v), typ=vector_of(I32), align=1) for v in range(VECTORS)]
        body, self._done = builder.append_basic_block("lanes"), builder.append_basic_block("lanes_done")
        self._steps, self._limit = steps, limit
        builder.cbranch(self._goes_on(zero, zero), body, self._done)
        builder.position_at_end(body)
        self.round, self.place = builder.phi(I64), builder.phi(I64)
        self.round.add_incoming(zero, entry)
        self.place.add_incoming(zero, entry)
        self.states = [builder.phi(vector_of(I32)) for _ in range(VECTORS)]
        for phi, first in zip(self.states, self._first, strict=True):
            phi.add_incoming(first, entry)
        self._entry, self._body = entry, body

    def _goes_on(self, following: Any, place: Any) -> Any:
        more = self.builder.icmp_signed("<", following, self._steps)
        if self._limit is None:
            return more
        return self.builder.and_(more, self.builder.icmp_signed("<=", place, self._limit))

    def _state(self, vector: int) -> Any:
        return self.builder.gep(self._states, [I64(4 * WIDTH * vector)], source_etype=I8)

    def end(self, place: Any, states: list[Any], rounds: Any = None) -> Any:
        """The place after the last round; how many rounds there were is stored at `rounds`."""
        builder = self.builder
        following = builder.add(self.round, I64(1))
        self._last = builder.block
        self.round.add_incoming(following, self._last)
        self.place.add_incoming(place, self._last)
        for phi, state in zip(self.states, states, strict=True):
            phi.add_incoming(state, self._last)
        builder.cbranch(self._goes_on(following, place), self._body, self._done)
        builder.position_at_end(self._done)
        result, completed = builder.phi(I64), builder.phi(I64)
        for phi, value in ((result, place), (completed, following)):
            phi.add_incoming(I64(0), self._entry)
            phi.add_incoming(value, self._last)
        finals = [builder.phi(vector_of(I32)) for _ in states]
        for vector, final in enumerate(finals):
            final.add_incoming(self._first[vector], self._entry)
            final.add_incoming(states[vector], self._last)
        for vector, final in enumerate(finals):
            builder.store(final, self._state(vector), align=1)
        if rounds is not None:
            builder.store(completed, rounds, align=1)
        return result
