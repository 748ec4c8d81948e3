"""Knows FlexBuffers as far as operators with names of their own have their options in them: a map from names to whole
numbers. Does not know operators.

Source: the description of FlexBuffers' binary encoding in the FlatBuffers project. The root stands at the end; what it
leads to lies before it.
"""

from __future__ import annotations

from tilewright_tflite.flatbuffer import DamagedError

_INT, _UINT, _MAP, _BOOL = 1, 2, 9, 26  # types of values
_LONGEST_NAME = 64
_MOST = 64  # names of one map


def numbers_of(data: bytes) -> dict[str, int]:
    """The names of a map that have whole numbers, or true and false. DamagedError where the bytes are no such map."""
    if not data:
        return {}
    if len(data) < 3:
        raise DamagedError("the options of an operator are cut short")
    kind, width = data[-2] >> 2, data[-1]
    if kind != _MAP or width not in (1, 2, 4, 8):
        raise DamagedError("the options of an operator are no map from names to numbers")
    inner = 1 << (data[-2] & 3)
    values = _back(data, len(data) - 2 - width, width)
    count = _number(data, values - inner, inner)
    if count > _MOST:
        raise DamagedError(f"an operator has {count:,} options")
    keys = _back(data, values - 3 * inner, inner)
    key_width = _number(data, values - 2 * inner, inner)
    if key_width not in (1, 2, 4, 8):
        raise DamagedError("the names of an operator's options have no width")
    result: dict[str, int] = {}
    for place in range(count):
        kind = _number(data, values + count * inner + place, 1) >> 2
        if kind in (_INT, _UINT, _BOOL):
            name = _name(data, _back(data, keys + place * key_width, key_width))
            result[name] = _number(data, values + place * inner, inner, signed=kind == _INT)
    return result


def _number(data: bytes, at: int, width: int, *, signed: bool = False) -> int:
    if not 0 <= at <= len(data) - width:
        raise DamagedError("the options of an operator lead out of the file")
    return int.from_bytes(data[at : at + width], "little", signed=signed)


def _back(data: bytes, at: int, width: int) -> int:
    """Where the distance at a place leads, which is counted backwards."""
    return at - _number(data, at, width)


def _name(data: bytes, at: int) -> str:
    end = data.find(b"\0", at, at + _LONGEST_NAME) if at >= 0 else -1
    if end < 0:
        raise DamagedError("the name of an operator's option has no end")
    return data[at:end].decode("ascii", "replace")
