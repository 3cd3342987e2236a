"""Vector steps of the scan and words at any byte, in portable LLVM IR. No ids."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

_BYTE, _I32, _I64 = ir.IntType(8), ir.IntType(32), ir.IntType(64)


def _load(builder: Any, address: Any, lanes: int) -> tuple[Any, Any]:
    vector = ir.VectorType(_BYTE, lanes)
    return vector, builder.load(builder.inttoptr(address, vector.as_pointer()), align=1)


def _same(vector: Any, value: int) -> Any:
    return ir.Constant(vector, [value] * vector.count)


@intrinsic
def hex_mask_64(typing_context: Any, address: Any) -> Any:
    """Bit i is set where byte i of the 64 at `address` is a hex digit."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        vector, text = _load(builder, args[0], 64)
        digit = builder.icmp_unsigned("<", builder.sub(text, _same(vector, 48)), _same(vector, 10))
        lower = builder.or_(text, _same(vector, 32))
        letter = builder.icmp_unsigned("<", builder.sub(lower, _same(vector, 97)), _same(vector, 6))
        return builder.bitcast(builder.or_(digit, letter), _I64)

    return types.uint64(types.uint64), codegen


@intrinsic
def newline_mask_64(typing_context: Any, address: Any) -> Any:
    """Bit i is set where byte i of the 64 at `address` is a line feed."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        vector, text = _load(builder, args[0], 64)
        return builder.bitcast(builder.icmp_unsigned("==", text, _same(vector, 10)), _I64)

    return types.uint64(types.uint64), codegen


@intrinsic
def separator_mask_64(typing_context: Any, address: Any) -> Any:
    """Bit i is set where byte i of the 64 at `address` is between the numbers of a date."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        vector, text = _load(builder, args[0], 64)
        dash = builder.icmp_unsigned("==", text, _same(vector, 45))
        return builder.bitcast(builder.or_(dash, builder.icmp_unsigned("==", text, _same(vector, 47))), _I64)

    return types.uint64(types.uint64), codegen


@intrinsic
def bo_mask_64(typing_context: Any, address: Any) -> Any:
    """Bit i is set where byte i of the 64 at `address` is a b and the next one an o, of either case."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        vector, text = _load(builder, args[0], 64)
        _, behind = _load(builder, builder.add(args[0], _I64(1)), 64)
        folded = _same(vector, 32)
        first = builder.icmp_unsigned("==", builder.or_(text, folded), _same(vector, 98))
        second = builder.icmp_unsigned("==", builder.or_(behind, folded), _same(vector, 111))
        return builder.bitcast(builder.and_(first, second), _I64)

    return types.uint64(types.uint64), codegen


@intrinsic
def letter_case_32(typing_context: Any, address: Any) -> Any:
    """Of 32 hex digits: bit 0 is set when one is an upper-case letter, bit 1 when one is a lower-case letter."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        vector, text = _load(builder, args[0], 32)
        kind = builder.and_(text, _same(vector, 0x60))
        upper = builder.bitcast(builder.icmp_unsigned("==", kind, _same(vector, 0x40)), _I32)
        lower = builder.bitcast(builder.icmp_unsigned("==", kind, _same(vector, 0x60)), _I32)
        has_upper = builder.zext(builder.icmp_unsigned("!=", upper, _I32(0)), _I64)
        has_lower = builder.zext(builder.icmp_unsigned("!=", lower, _I32(0)), _I64)
        return builder.or_(has_upper, builder.shl(has_lower, _I64(1)))

    return types.uint64(types.uint64), codegen


@intrinsic
def unhex_32(typing_context: Any, address: Any) -> Any:
    """32 hex digits as two big-endian 64-bit words."""
    result = types.UniTuple(types.uint64, 2)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        vector = ir.VectorType(_I64, 4)
        text = builder.load(builder.inttoptr(args[0], vector.as_pointer()), align=1)
        letter = builder.and_(builder.lshr(text, _same(vector, 6)), _same(vector, 0x0101010101010101))
        low = builder.and_(text, _same(vector, 0x0F0F0F0F0F0F0F0F))
        nibble = builder.add(low, builder.add(letter, builder.shl(letter, _same(vector, 3))))
        packed = builder.or_(builder.shl(nibble, _same(vector, 4)), builder.lshr(nibble, _same(vector, 8)))
        packed = builder.and_(packed, _same(vector, 0x00FF00FF00FF00FF))
        packed = builder.or_(packed, builder.lshr(packed, _same(vector, 8)))
        packed = builder.and_(packed, _same(vector, 0x0000FFFF0000FFFF))
        packed = builder.or_(packed, builder.lshr(packed, _same(vector, 16)))
        packed = builder.and_(packed, _same(vector, 0xFFFFFFFF))
        lanes = [builder.extract_element(packed, _I32(lane)) for lane in range(4)]
        words = [builder.bswap(builder.or_(a, builder.shl(b, _I64(32)))) for a, b in (lanes[:2], lanes[2:])]
        return context.make_tuple(builder, result, words)

    return result(types.uint64), codegen


@intrinsic
def trailing_zeros(typing_context: Any, word: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.IntType(1)(0))

    return types.uint64(types.uint64), codegen


@intrinsic
def leading_zeros(typing_context: Any, word: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctlz(args[0], ir.IntType(1)(0))

    return types.uint64(types.uint64), codegen


@intrinsic
def ones_of(typing_context: Any, word: Any) -> Any:
    """How many bits of a word are set."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.uint64(types.uint64), codegen


@intrinsic
def load_8(typing_context: Any, address: Any) -> Any:
    """The byte at `address`."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        byte = builder.load(builder.inttoptr(args[0], _BYTE.as_pointer()))
        return builder.zext(byte, _I64)

    return types.int64(types.uint64), codegen


@intrinsic
def load_64(typing_context: Any, address: Any) -> Any:
    """The 8 bytes at `address`, which need not be a multiple of 8, as one word, low bits first."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load(builder.inttoptr(args[0], _I64.as_pointer()), align=1)

    return types.uint64(types.uint64), codegen


@intrinsic
def store_64(typing_context: Any, address: Any, word: Any) -> Any:
    """Puts a word into the 8 bytes at `address`, low bits first."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.store(args[1], builder.inttoptr(args[0], _I64.as_pointer()), align=1)
        return context.get_dummy_value()

    return types.void(types.uint64, types.uint64), codegen


@intrinsic
def will_write(typing_context: Any, address: Any) -> Any:
    """Brings the line of the cache at `address` near: only a hint, for any address."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = builder.inttoptr(args[0], _BYTE.as_pointer())
        kind = ir.FunctionType(ir.VoidType(), [pointer.type, _I32, _I32, _I32])
        hint = builder.module.declare_intrinsic("llvm.prefetch", [pointer.type], kind)
        builder.call(hint, [pointer, _I32(1), _I32(3), _I32(1)])  # to write, keep near, data
        return context.get_dummy_value()

    return types.void(types.uint64), codegen


@intrinsic
def borrowed(typing_context: Any, arrays: Any) -> Any:
    """The arrays of a named tuple, as long as its owner keeps them: numba counts no references to these.

    Counting is atomic and costs 5 ns, whenever a loop takes an array out of a tuple or gives it to a function.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        members = []
        for kind, value in zip(arrays.types, cgutils.unpack_tuple(builder, args[0]), strict=True):
            if isinstance(kind, types.Array):
                array = context.make_array(kind)(context, builder, value)
                array.meminfo = cgutils.get_null_value(array.meminfo.type)
                array.parent = cgutils.get_null_value(array.parent.type)
                value = array._getvalue()
            members.append(value)
        return context.make_tuple(builder, arrays, members)

    return arrays(arrays), codegen
