"""Sixteen numbers at once: the vector operations of LLVM that the entropy coder's loops are written in.

No compiler finds gathers, expanding loads and compressing stores by itself. On a processor with AVX-512 they are
single instructions; on any other LLVM spells them out, with the same result.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from llvmlite import ir
from llvmlite.binding import get_host_cpu_features
from numba import config, njit

from assay.weights.codec.tokens import DIRECT, DIRECT_BITS, ESCAPE

# What a state of the entropy coder is, whatever the number of lanes.
#
# Range asymmetric numeral systems (Duda, arXiv:1311.2540): a state of 31 bits is refilled by, or spills, 16 bits at a
# time. A token is coded by its frequency out of 1024; the noise below it goes into the state as it is in the same
# step,
# which costs exactly its bits.

PROBABILITY_BITS = 10
PROBABILITY_SUM = 1 << PROBABILITY_BITS
STATE_BITS = 31
LOWEST_STATE = 1 << (STATE_BITS - 16)
TOKENS, NOISE, LEADING, FIXED = range(4)
"""What a stream consists of: tokens alone; tokens and noise; the leading bytes of elements whose other bytes are kept
apart; or noise alone, of as many bits as its context has."""
MOST_FIXED = STATE_BITS - 16
"""Most bits of a residual of fixed length: as many as a state holds at any time."""
LANES, MORE_LANES = 64, 128
"""States that take turns. While one step waits, others go on: more states are faster until registers run out."""
_EXACT = STATE_BITS - 16 - PROBABILITY_BITS


@njit(inline="always")
def lanes_of(content):  # type: ignore[no-untyped-def]
    return LANES if content in (NOISE, FIXED) else MORE_LANES


@njit(inline="always")
def step_of(length):  # type: ignore[no-untyped-def]
    """The number that the frequency of a token with so many bits of noise must be a multiple of.

    A step is decoded as it was encoded if LOWEST_STATE times the probability of what it codes is a whole number.
    """
    return 1 << max(0, length - _EXACT)


WIDTH = 16
AHEAD, _LINE_BYTES = 3072, 64
"""How far ahead of reading to prefetch, and the length of a line of the caches; both in bytes."""

I1, I8, I16, I32, I64 = (ir.IntType(bits) for bits in (1, 8, 16, 32, 64))
ELEMENTS = {8: I8, 16: I16, 32: I32}
POINTER = ir.PointerType()


def _has(feature: str) -> bool:
    """Whether the processor that is compiled for, which need not be this one, has such instructions."""
    if config.CPU_FEATURES is not None:
        return f"+{feature}" in config.CPU_FEATURES.split(",")
    return bool(get_host_cpu_features().get(feature))


_EXPANDS_IN_PLACE = _has("bmi2") and _has("avx512vbmi2")
_LOOKS_UP = _has("avx512bw")


def vector_of(element: Any) -> Any:
    return ir.VectorType(element, WIDTH)


def all_lanes(element: Any, value: int) -> Any:
    return ir.Constant(vector_of(element), [value] * WIDTH)


def wide_lanes(value: int) -> Any:
    return ir.Constant(ir.VectorType(I64, WIDTH // 2), [value] * (WIDTH // 2))


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


def join_halves(builder: Any, parts: list[Any]) -> Any:
    """Joins what `halves` took apart; the elements are below 2**16."""
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


def gather_pairs(builder: Any, table: Any, index: Any) -> tuple[Any, Any]:
    """Entries of 64 bits: those of the even lanes and those of the odd ones."""
    lanes = WIDTH // 2
    wide, pointers, mask = (ir.VectorType(kind, lanes) for kind in (I64, ir.PointerType(), I1))
    name = f"llvm.masked.gather.v{lanes}i64.v{lanes}p0"
    function = function_of(builder, name, wide, [pointers, I32, mask, wide])
    all_of, zeros = ir.Constant(mask, [1] * lanes), ir.Constant(wide, [0] * lanes)
    found = []
    for half in wide_halves(builder, index):
        places = builder.gep(table, [half], source_etype=I64)
        places.type = pointers
        found.append(builder.call(function, [places, I32(8), all_of, zeros]))
    return found[0], found[1]


def look_up(builder: Any, table: Any, index: Any) -> Any:
    """Elements of the register `table`, picked by the numbers in `index`; only its first sixteen can be."""
    kind = table.type
    if _LOOKS_UP:
        name = f"llvm.x86.avx512.permvar.{'si' if kind.element.width == 32 else 'hi'}.512"
        return builder.call(function_of(builder, name, kind, [kind, kind]), [table, index])
    found = table
    for number in range(WIDTH):
        which = ir.Constant(ir.VectorType(I32, kind.count), [number] * kind.count)
        here = builder.icmp_unsigned("==", index, ir.Constant(kind, [number] * kind.count))
        found = builder.select(here, builder.shuffle_vector(table, table, which), found)
    return found


def wide_halves(builder: Any, value: Any) -> tuple[Any, Any]:
    """The even and the odd lanes in 64 bits."""
    pairs = builder.bitcast(value, ir.VectorType(I64, WIDTH // 2))
    return builder.and_(pairs, wide_lanes(0xFFFFFFFF)), builder.lshr(pairs, wide_lanes(32))


def wide_joined(builder: Any, even: Any, odd: Any) -> Any:
    """Joins the low halves of what `wide_halves` took apart."""
    pairs = builder.or_(builder.and_(even, wide_lanes(0xFFFFFFFF)), builder.shl(odd, wide_lanes(32)))
    return builder.bitcast(pairs, vector_of(I32))


def shift_pairs(builder: Any, way: str, high: Any, low: Any, by: Any) -> Any:
    """Pairs of numbers shifted to the left or right by `by` modulo 32: the high or the low one of the result."""
    name = f"llvm.fsh{way}.v{WIDTH}i32"
    return builder.call(function_of(builder, name, vector_of(I32), [vector_of(I32)] * 3), [high, low, by])


def count(builder: Any, mask: Any) -> Any:
    function = function_of(builder, f"llvm.ctpop.i{WIDTH}", I16, [I16])
    return builder.zext(builder.call(function, [builder.bitcast(mask, I16)]), I64)


def note(builder: Any, mask: Any, notes: Any, place: Any) -> None:
    """Stores the mask at `place` of the notes, one bit for each lane."""
    builder.store(builder.bitcast(mask, I16), builder.gep(notes, [place], source_etype=I16), align=1)


def is_bit_set(builder: Any, value: Any, bit: int) -> Any:
    return builder.icmp_unsigned("!=", builder.and_(value, all_lanes(I32, 1 << bit)), all_lanes(I32, 0))


def expand_words(builder: Any, words: Any, place: Any, mask: Any) -> Any:
    """The next words, one for each lane of the mask; 0 in the others."""
    name, kind = f"llvm.masked.expandload.v{WIDTH}i16", vector_of(I16)
    function = function_of(builder, name, kind, [POINTER, vector_of(I1), kind])
    found = builder.call(function, [builder.gep(words, [place], source_etype=I16), mask, all_lanes(I16, 0)])
    return builder.zext(found, vector_of(I32))


def refill(builder: Any, words: Any, place: Any, mask: Any, state: Any) -> Any:
    """The state, in the lanes of the mask moved up by 16 bits and the next word put below."""
    more = builder.select(mask, builder.shl(state, all_lanes(I32, 16)), state)
    return with_words(builder, words, place, mask, more)


def with_words(builder: Any, words: Any, place: Any, mask: Any, value: Any) -> Any:
    """The value, in the lanes of the mask with the next word as its low bits, which are zeros."""
    if not _EXPANDS_IN_PLACE:
        return builder.or_(value, expand_words(builder, words, place, mask))
    # The mask of the low words of the lanes: expanding into them needs no widening and no merging.
    spread = function_of(builder, "llvm.x86.bmi.pdep.32", I32, [I32, I32])
    every_other = builder.call(spread, [builder.zext(builder.bitcast(mask, I16), I32), I32(0x55555555)])
    name, kind, flags = f"llvm.masked.expandload.v{2 * WIDTH}i16", *(ir.VectorType(t, 2 * WIDTH) for t in (I16, I1))
    function = function_of(builder, name, kind, [POINTER, flags, kind])
    at = builder.gep(words, [place], source_etype=I16)
    found = builder.call(function, [at, builder.bitcast(every_other, flags), builder.bitcast(value, kind)])
    return builder.bitcast(found, vector_of(I32))


def prefetch(builder: Any, start: Any, place: Any, count: int, element: Any) -> None:
    """Prefetches `count` elements that will be read soon: a processor does not look at the next page by itself. Beyond
    the end of memory it does nothing."""
    function = function_of(builder, "llvm.prefetch.p0", ir.VoidType(), [POINTER, I32, I32, I32])
    for line in range(0, count * element.width // 8, _LINE_BYTES):
        at = builder.gep(builder.gep(start, [place], source_etype=element), [I64(line)], source_etype=I8)
        builder.call(function, [at, I32(0), I32(3), I32(1)])


def compress_words(builder: Any, value: Any, words: Any, place: Any, mask: Any) -> None:
    """Stores the low words of the lanes of the mask side by side, from `place` on."""
    name, kind = f"llvm.masked.compressstore.v{WIDTH}i16", vector_of(I16)
    function = function_of(builder, name, ir.VoidType(), [kind, POINTER, vector_of(I1)])
    builder.call(function, [builder.trunc(value, kind), builder.gep(words, [place], source_etype=I16), mask])


class Loop:
    """Rounds over all lanes, with the states and the place in the words carried from round to round.

    Ends after `steps` rounds, or before one whose first place is beyond `limit`.
    """

    def __init__(self, builder: Any, lanes: int, steps: Any, states: Any, limit: Any = None) -> None:
        self.builder, self._states = builder, states
        self._entry = builder.block
        first = [builder.load(self._state(v), typ=vector_of(I32), align=1) for v in range(lanes // WIDTH)]
        self._first = [I64(0), I64(0), *first]
        self._body, self._done = builder.append_basic_block("lanes"), builder.append_basic_block("lanes_done")
        self._steps, self._limit = steps, limit
        builder.cbranch(self._goes_on(I64(0), I64(0)), self._body, self._done)
        builder.position_at_end(self._body)
        self._carried = [builder.phi(value.type) for value in self._first]
        for phi, value in zip(self._carried, self._first, strict=True):
            phi.add_incoming(value, self._entry)
        self.round, self.place, *self.states = self._carried

    def _goes_on(self, following: Any, place: Any) -> Any:
        more = self.builder.icmp_signed("<", following, self._steps)
        if self._limit is None:
            return more
        return self.builder.and_(more, self.builder.icmp_signed("<=", place, self._limit))

    def _state(self, vector: int) -> Any:
        return self.builder.gep(self._states, [I64(4 * WIDTH * vector)], source_etype=I8)

    def end(self, place: Any, states: list[Any], rounds_at: Any = None) -> Any:
        """The place after the last round; the number of rounds is stored at `rounds_at`."""
        builder = self.builder
        after = [builder.add(self.round, I64(1)), place, *states]
        last = builder.block
        for phi, value in zip(self._carried, after, strict=True):
            phi.add_incoming(value, last)
        builder.cbranch(self._goes_on(*after[:2]), self._body, self._done)
        builder.position_at_end(self._done)
        finals = [builder.phi(value.type) for value in after]
        for phi, before, value in zip(finals, self._first, after, strict=True):
            phi.add_incoming(before, self._entry)
            phi.add_incoming(value, last)
        rounds, place, *states = finals
        for vector, state in enumerate(states):
            builder.store(state, self._state(vector), align=1)
        if rounds_at is not None:
            builder.store(rounds, rounds_at, align=1)
        return place


# Elements of a tensor in a vector register, and what is done to them before and after the entropy coder.

_FLOAT_BIAS = 127


@dataclass(frozen=True)
class Elements:
    """Elements that fill a register: 32 of up to 16 bits, or 16 of 32 bits.

    `is_float` and `xor` below may be None: then the elements are known to be floats, the residual a difference.
    """

    builder: Any
    width: int

    @property
    def bits(self) -> int:
        return max(self.width, 16)

    @property
    def lanes(self) -> int:
        return WIDTH * 32 // self.bits

    @property
    def kind(self) -> Any:
        return ir.VectorType(ir.IntType(self.bits), self.lanes)

    @property
    def flags(self) -> Any:
        return ir.VectorType(I1, self.lanes)

    def constant(self, value: int) -> Any:
        return ir.Constant(self.kind, [value] * self.lanes)

    def splat(self, value: Any) -> Any:
        return splat(self.builder, value, self.kind)

    def is_flag_set(self, flag: Any) -> Any:
        """Whether a 64-bit number is not 0, in every lane."""
        return self.builder.icmp_unsigned("!=", self.splat(flag), self.constant(0))

    def load(self, start: Any, place: Any) -> Any:
        element = ELEMENTS[self.width]
        at = self.builder.gep(start, [place], source_etype=element)
        found = self.builder.load(at, typ=ir.VectorType(element, self.lanes), align=1)
        return found if self.width == self.bits else self.builder.zext(found, self.kind)

    def load_planes(self, planes: Any, place: Any, stride: Any, count: int) -> Any:
        """Elements of `count` low bytes, each byte from a plane of its own, `stride` bytes apart."""
        builder, rest = self.builder, self.constant(0)
        for number in range(count):
            at = builder.gep(planes, [builder.add(place, builder.mul(stride, I64(number)))], source_etype=I8)
            plane = builder.load(at, typ=ir.VectorType(I8, self.lanes), align=1)
            rest = builder.or_(rest, builder.shl(builder.zext(plane, self.kind), self.constant(8 * number)))
        return rest

    def store_planes(self, value: Any, planes: Any, place: Any, stride: Any, count: int) -> None:
        """Stores the `count` low bytes of the elements as `load_planes` reads them; the bytes above are not stored."""
        builder = self.builder
        for number in range(count):
            at = builder.gep(planes, [builder.add(place, builder.mul(stride, I64(number)))], source_etype=I8)
            plane = builder.lshr(value, self.constant(8 * number))
            builder.store(builder.trunc(plane, ir.VectorType(I8, self.lanes)), at, align=1)

    def store(self, value: Any, start: Any, place: Any) -> None:
        element = ELEMENTS[self.width]
        narrow = value if self.width == self.bits else self.builder.trunc(value, ir.VectorType(element, self.lanes))
        self.builder.store(narrow, self.builder.gep(start, [place], source_etype=element), align=1)

    def context(self, base: Any, mask: Any, below: Any, last: Any) -> Any:
        """The same as `tokens.context_of`, but left at the place of the exponent; so are mask and bounds."""
        builder = self.builder
        name = f"llvm.usub.sat.v{self.lanes}i{self.bits}"
        function = function_of(builder, name, self.kind, [self.kind] * 2)
        above = builder.call(function, [builder.and_(base, mask), below])
        return builder.select(builder.icmp_unsigned("<", above, last), above, last)

    def shift_up(self, value: Any) -> Any:
        """The value in the top bits of a lane, so that the lane's sign is the element's at every width."""
        up = self.bits - self.width
        return self.builder.shl(value, self.constant(up)) if up else value

    def shift_down(self, value: Any) -> Any:
        up = self.bits - self.width
        return self.builder.lshr(value, self.constant(up)) if up else value

    def undo_residual(self, base: Any, residual: Any, xor: Any) -> Any:
        """The bit pattern that has this residual (difference or XOR) with the base."""
        builder = self.builder
        half, odd = builder.lshr(residual, self.constant(1)), builder.trunc(residual, self.flags)
        value = builder.add(base, builder.select(odd, builder.not_(half), half))
        return value if xor is None else builder.select(xor, builder.xor(base, residual), value)

    def residual(self, bits: Any, base: Any, xor: Any) -> Any:
        """The residual of a bit pattern with its base; `undone` takes it back."""
        builder = self.builder
        step = self.shift_up(builder.sub(bits, base))
        sign = builder.ashr(step, self.constant(self.bits - 1))
        zigzag = self.shift_down(builder.xor(builder.shl(step, self.constant(1)), sign))
        return zigzag if xor is None else builder.select(xor, builder.xor(bits, base), zigzag)

    def token(self, residual: Any) -> Any:
        """The same as `tokens.token_of`. Octave and quarter are read off the leading bits of the residual as a
        float."""
        if self.width == 8:
            return residual
        builder, quarters = self.builder, []
        for part in halves(builder, residual, self.lanes // WIDTH):
            as_float = builder.uitofp(part, ir.VectorType(ir.FloatType(), WIDTH))
            quarters.append(builder.lshr(builder.bitcast(as_float, vector_of(I32)), all_lanes(I32, 21)))
        first = 4 * (_FLOAT_BIAS + DIRECT_BITS) - DIRECT
        above = builder.sub(join_halves(builder, quarters), self.constant(first))
        if self.width > 16:
            most = self.constant(ESCAPE)
            above = builder.select(builder.icmp_signed("<", above, most), above, most)
        plain = builder.icmp_unsigned("<", residual, self.constant(DIRECT))
        return builder.select(plain, residual, above)

    def assemble(self, rest: Any, token: Any, is_float: Any) -> Any:
        """The element, from its first byte (`token`) and the others (`rest`); a float was rotated left by one bit."""
        builder, one, last = self.builder, self.constant(1), self.constant(self.bits - 1)
        value = builder.or_(rest, builder.shl(token, self.constant(self.bits - 8)))
        turned = builder.or_(builder.lshr(value, one), builder.shl(value, last))
        if is_float is None:
            return turned
        return builder.select(is_float, turned, value)
