"""Bytes of text by name: signs, digits and letters that the kernels compare with, and what kind a byte is of."""

from __future__ import annotations

from idcore.kernels import inlined

TAB, NEWLINE, RETURN, SPACE, QUOTE, HASH, PERCENT, AMPERSAND, APOSTROPHE = b"\t\n\r \"#%&'"
STAR, PLUS, COMMA, HYPHEN, DOT, SLASH = b"*+,-./"
ZERO, ONE, TWO, THREE, FIVE, SEVEN, NINE = b"0123579"
COLON, SEMICOLON, LESS, EQUALS, GREATER, BRACKET, BACKSLASH, CARET, UNDERSCORE, BAR = b":;<=>[\\^_|"
UPPER_A, UPPER_F, UPPER_T, UPPER_Z = b"AFTZ"
LOWER_A, LOWER_C, LOWER_D, LOWER_E, LOWER_F, LOWER_G, LOWER_I, LOWER_M, LOWER_N = b"acdefgimn"
LOWER_P, LOWER_R, LOWER_T, LOWER_U, LOWER_X, LOWER_Z = b"prtuxz"
WIDE, WIDE_SECOND, BULLET_THIRD, ELLIPSIS_THIRD = b"\xe2\x80\xa2\xa6"  # of • and …
NOT_ASCII = 0x80  # the least byte of a letter that has several


@inlined
def is_digit(byte):
    return ZERO <= byte and byte <= NINE


@inlined
def is_letter(byte):
    return LOWER_A <= byte | 32 and byte | 32 <= LOWER_Z


@inlined
def is_word(byte):
    return is_digit(byte) or is_letter(byte) or byte == UNDERSCORE


@inlined
def is_quote_or_space(byte):
    return byte == SPACE or byte == QUOTE or byte == APOSTROPHE


@inlined
def is_space(byte):
    """As Python's `\\s` of ASCII."""
    return byte == SPACE or (TAB <= byte and byte <= RETURN)
