"""Big-endian words at any byte, digits of numbers and of ids, bytes that are alike, in portable LLVM IR. No records."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from idcore.kernels import inlined, kernel
from idcore.kernels.codes import CODE_SHIFT, WORDS_SIZE
from idcore.kernels.vector import load_64, store_64

U = np.uint64
COMMA = ord(",")
SLACK = 80  # bytes that have to be readable behind everything that is looked at by words
_BYTE, _I32, _I64 = ir.IntType(8), ir.IntType(32), ir.IntType(64)


@intrinsic
def be_32(typing_context: Any, address: Any) -> Any:
    """The 4 bytes at `address`, high ones first, without a sign."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        word = builder.load(builder.inttoptr(args[0], _I32.as_pointer()), align=1)
        return builder.zext(builder.bswap(word), _I64)

    return types.int64(types.uint64), codegen


@intrinsic
def be_64(typing_context: Any, address: Any) -> Any:
    """The 8 bytes at `address`, high ones first."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bswap(builder.load(builder.inttoptr(args[0], _I64.as_pointer()), align=1))

    return types.int64(types.uint64), codegen


@intrinsic
def byte_mask_64(typing_context: Any, address: Any, byte: Any) -> Any:
    """Bit i is set where byte i of the 64 at `address` is that byte."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        vector = ir.VectorType(_BYTE, 64)
        text = builder.load(builder.inttoptr(args[0], vector.as_pointer()), align=1)
        none = ir.Constant(vector, ir.Undefined)
        lane = builder.insert_element(none, builder.trunc(args[1], _BYTE), _I32(0))
        same = builder.shuffle_vector(lane, none, ir.Constant(ir.VectorType(_I32, 64), [0] * 64))
        return builder.bitcast(builder.icmp_unsigned("==", text, same), _I64)

    return types.uint64(types.uint64, types.uint64), codegen


@inlined
def signed_32(address):
    word = be_32(address)
    return word - (np.int64(1) << 32) if word >= np.int64(1) << 31 else word


@kernel
def alike(one, other, size):
    """Whether `size` bytes at two addresses are the same."""
    while size >= 8:
        if load_64(one) != load_64(other):
            return False
        one += U(8)
        other += U(8)
        size -= 8
    return size == 0 or (load_64(one) ^ load_64(other)) << U(64 - 8 * size) == U(0)


@kernel
def copy(source, target, size):
    """`size` bytes, and up to seven more behind them."""
    for place in range(0, size, 8):
        store_64(target + U(place), load_64(source + U(place)))


@kernel
def mixed(address, size, seed):
    """A hash of the ends of `size` bytes: equal for equal bytes."""
    if size >= 8:
        word = load_64(address) ^ load_64(address + U(size - 8)) * U(0x9E3779B97F4A7C15)
    elif size > 0:
        word = load_64(address) << U(64 - 8 * size)
    else:
        word = U(0)
    return (word + U(size) + U(seed) * U(0xC2B2AE3D27D4EB4F)) * U(0xFF51AFD7ED558CCD) >> U(32)


@inlined
def hex_of_4(word):
    """Eight upper-case digits of four bytes; the first byte is the lowest."""
    word = (word | word << U(16)) & U(0x0000FFFF0000FFFF)
    word = (word | word << U(8)) & U(0x00FF00FF00FF00FF)
    word = word >> U(4) & U(0x000F000F000F000F) | (word & U(0x000F000F000F000F)) << U(8)
    letter = (word + U(0x0606060606060606)) >> U(4) & U(0x0101010101010101)
    return word + U(0x3030303030303030) + letter * U(7)


@kernel
def put_hex(source, target, size):
    """The digits of `size` bytes, a multiple of four; returns the address behind them."""
    for place in range(0, size, 4):
        store_64(target + U(2 * place), hex_of_4(load_64(source + U(place)) & U(0xFFFFFFFF)))
    return target + U(2 * size)


@inlined
def digits_of_8(number):
    """Eight decimal digits of a number below 100,000,000, with zeros in front; the first digit is the lowest byte."""
    word = number // U(10_000) | number % U(10_000) << U(32)
    hundreds = word * U(10_486) >> U(20) & U(0x0000007F0000007F)
    word = hundreds | (word - hundreds * U(100)) << U(16)
    tens = word * U(103) >> U(10) & U(0x000F000F000F000F)
    return (tens | (word - tens * U(10)) << U(8)) + U(0x3030303030303030)


@kernel
def is_plain(address, size):
    """Whether all bytes are ASCII digits and letters."""
    plain = True
    for place in range(0, size, 8):
        word = load_64(address + U(place))
        left = size - place
        if left < 8:  # zeros become digits, so that what is behind is not judged
            word = (word << U(64 - 8 * left)) >> U(64 - 8 * left) | U(0x3030303030303030) << U(8 * left)
        low = word & U(0x7F7F7F7F7F7F7F7F)
        folded = low | U(0x2020202020202020)
        digit = (low + U(0x5050505050505050)) & ~(low + U(0x4646464646464646))
        letter = (folded + U(0x1F1F1F1F1F1F1F1F)) & ~(folded + U(0x0505050505050505))
        plain &= ((digit | letter) & ~word & U(0x8080808080808080)) == U(0x8080808080808080)
    return plain


@kernel
def put_ids(words, values, layouts, edges, out):
    """The digits of ids from the words of their keys and their values, each from its edge on, and a comma.

    `layouts` has a row for each code (`codes.rows_of`). Where no room is left for the comma, the next id is in its
    place; SLACK is behind all.
    """
    raw = np.empty(WORDS_SIZE + 256, np.uint8)
    for byte in range(256):
        raw[WORDS_SIZE + byte] = byte  # what is always the same has its own place
    whole = np.zeros(32 + SLACK, np.uint8)
    text = np.zeros(64 + SLACK, np.uint8)
    bytes_, digits = U(whole.ctypes.data), U(text.ctypes.data)
    held, target = U(raw.ctypes.data), U(out.ctypes.data)
    for row in range(values.size):
        for word in range(3):
            store_64(held + U(8 * word), U(be_64(U(words.ctypes.data) + U(24 * row + 8 * word))))
        store_64(held + U(24), U(be_64(U(values.ctypes.data) + U(8 * row))))
        layout = np.int64(words[row, 2] >> CODE_SHIFT) - 1
        size = np.int64(layouts[layout, 0])
        for at in range(size >> 1):
            whole[at] = raw[layouts[layout, 2 + at]]
        put_hex(bytes_, digits, (size >> 1) + 3 & -4)
        text[size] = COMMA
        copy(digits, target + U(edges[row]), size + 1)
