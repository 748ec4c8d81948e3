"""Knows as much of 32-bit little-endian ELF files as is needed: where functions are, how many bytes of code there are.
Does not know what the code does.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

EXECUTABLE = 0x4
SYMBOL_TABLE = 2
PROGRAM_BITS = 1
FUNCTION = 2
SECTION = struct.Struct("<10I")
SYMBOL = struct.Struct("<IIIBBH")


@dataclass(frozen=True, slots=True, kw_only=True)
class ElfSymbol:
    """A name and its bytes. Bit 0 of a Thumb function's address, a mark, is cleared."""

    name: str
    address: int
    size_bytes: int
    is_function: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Section:
    type: int
    flags: int
    offset: int
    size: int
    link: int


def elf_symbols(content: bytes) -> tuple[ElfSymbol, ...]:
    """Every symbol with a name, by address."""
    sections = _sections(content)
    symbols = [
        symbol
        for section in sections
        if section.type == SYMBOL_TABLE
        for symbol in _symbols(content, section, sections[section.link])
    ]
    return tuple(sorted(symbols, key=lambda symbol: (symbol.address, symbol.name)))


def elf_code_bytes(content: bytes) -> int:
    """Bytes of executable sections."""
    return sum(s.size for s in _sections(content) if s.type == PROGRAM_BITS and s.flags & EXECUTABLE)


def elf_function_at(symbols: tuple[ElfSymbol, ...], address: int) -> str:
    """The function that holds `address`, or ""."""
    inside = (s.name for s in symbols if s.is_function and s.address <= address < s.address + s.size_bytes)
    return next(inside, "")


def _sections(content: bytes) -> list[_Section]:
    start = struct.unpack_from("<I", content, 32)[0]
    size, count = struct.unpack_from("<HH", content, 46)
    fields = [SECTION.unpack_from(content, start + index * size) for index in range(count)]
    return [_Section(type=f[1], flags=f[2], offset=f[4], size=f[5], link=f[6]) for f in fields]


def _symbols(content: bytes, table: _Section, strings: _Section) -> Iterator[ElfSymbol]:
    for at in range(table.offset, table.offset + table.size, SYMBOL.size):
        name, value, size, info, _, _ = SYMBOL.unpack_from(content, at)
        start = strings.offset + name
        text = content[start : content.index(b"\0", start)].decode("ascii", "replace")
        if text:
            is_function = info & 15 == FUNCTION
            yield ElfSymbol(
                name=text, address=value & ~1 if is_function else value, size_bytes=size, is_function=is_function
            )
