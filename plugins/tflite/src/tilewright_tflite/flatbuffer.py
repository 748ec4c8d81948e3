"""Knows FlatBuffers: tables, vectors, texts and unions in bytes that a stranger wrote. Whatever is read is inside the
file, or the file is `DamagedError`. Does not know what the tables mean.

A table begins with the distance back to its vtable, which has the place of each field in the table, 0 for one that is
absent. Offsets to tables, vectors and texts are counted from where they stand. A few bytes may stand for much, because
any number of offsets may lead to one place: `Buffer` counts what is made of the file.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]


_SIZES = {form: struct.calcsize(form) for form in ("<b", "<B", "<h", "<H", "<i", "<I", "<q", "<Q")}


class DamagedError(Exception):
    """The bytes are no such file: what is wrong, and where."""


class BudgetError(Exception):
    """What would be made of the file is more than the limits allow."""


@dataclass(slots=True, kw_only=True)
class Buffer:
    """The bytes of a file. `tables`, `numbers` and `letters` are what may still be made of them."""

    data: bytes
    tables: int
    numbers: int
    letters: int
    longest_name: int
    _texts: dict[int, str] = field(default_factory=dict)

    def root(self) -> Table:
        """The table that the file begins with."""
        return self.table(self.number("<I", 0))

    def number(self, form: str, at: int) -> int:
        """One number, of a form that `struct` knows."""
        if not 0 <= at <= len(self.data) - _SIZES[form]:
            raise DamagedError(f"a number at {at:,} is outside of its {len(self.data):,} bytes")
        result: int = struct.unpack_from(form, self.data, at)[0]
        return result

    def real(self, at: int) -> float:
        """One float of 32 bits."""
        self.demand(at, 4)
        return float(struct.unpack_from("<f", self.data, at)[0])

    def demand(self, at: int, size: int) -> None:
        """Raise DamagedError unless `size` bytes are there."""
        if at < 0 or size < 0 or at + size > len(self.data):
            raise DamagedError(f"{size:,} bytes at {at:,} are outside of its {len(self.data):,} bytes")

    def follow(self, at: int) -> int:
        """Where the offset that stands at `at` leads."""
        distance = self.number("<I", at)
        if distance == 0:
            raise DamagedError(f"the offset at {at:,} leads to itself")
        self.demand(at + distance, 4)
        return at + distance

    def table(self, at: int) -> Table:
        """The table at a place, its vtable and its whole extent inside the file."""
        self.tables -= 1
        if self.tables < 0:
            raise BudgetError("tables")
        vtable = at - self.number("<i", at)
        size = self.number("<H", vtable)
        extent = self.number("<H", vtable + 2)
        if size < 4 or size % 2 or extent < 4:
            raise DamagedError(f"the table at {at:,} has no valid description")
        self.demand(vtable, size)
        self.demand(at, extent)
        return Table(buffer=self, at=at, vtable=vtable, fields=(size - 4) // 2, extent=extent)

    def vector(self, at: int, item_bytes: int) -> tuple[int, int]:
        """Number of items of the vector at a place, and where the first one is."""
        count = self.number("<I", at)
        self.demand(at + 4, count * item_bytes)
        return count, at + 4

    def text(self, at: int) -> str:
        """The text at a place, made once however many offsets lead there."""
        if at not in self._texts:
            count, start = self.vector(at, 1)
            if count > self.longest_name:
                raise BudgetError("name")
            self.letters -= count
            if self.letters < 0:
                raise BudgetError("names")
            try:
                self._texts[at] = self.data[start : start + count].decode()
            except UnicodeDecodeError:
                raise DamagedError(f"the text at {at:,} is not UTF-8") from None
        return self._texts[at]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """One table. Fields have numbers; what is absent has the value that the format defines for it."""

    buffer: Buffer = field(repr=False)
    at: int
    vtable: int
    fields: int
    extent: int

    def place(self, number: int, size: int) -> int | None:
        """Where the bytes of a field are; None where it is absent."""
        if number >= self.fields:
            return None
        offset = self.buffer.number("<H", self.vtable + 4 + 2 * number)
        if offset == 0:
            return None
        if offset < 4 or offset + size > self.extent:
            raise DamagedError(f"field {number} of the table at {self.at:,} is outside of it")
        return self.at + offset

    def integer(self, number: int, default: int = 0, form: str = "<i") -> int:
        """A number; `form` is that of `struct`."""
        at = self.place(number, _SIZES[form])
        return default if at is None else self.buffer.number(form, at)

    def byte(self, number: int, default: int = 0) -> int:
        """A small number, or one of an enumeration."""
        return self.integer(number, default, "<b")

    def flag(self, number: int) -> bool:
        """A truth value, false unless the file says otherwise."""
        return self.integer(number, 0, "<B") != 0

    def real(self, number: int, default: float = 0.0) -> float:
        """A float of 32 bits."""
        at = self.place(number, 4)
        return default if at is None else self.buffer.real(at)

    def text(self, number: int) -> str:
        """A text; empty where it is absent."""
        at = self.place(number, 4)
        return "" if at is None else self.buffer.text(self.buffer.follow(at))

    def child(self, number: int) -> Table | None:
        """A table that this one has."""
        at = self.place(number, 4)
        return None if at is None else self.buffer.table(self.buffer.follow(at))

    def count(self, number: int) -> int:
        """How many items a vector of offsets has."""
        at = self.place(number, 4)
        return 0 if at is None else self.buffer.vector(self.buffer.follow(at), 4)[0]

    def children(self, number: int) -> list[Table]:
        """The tables of a vector."""
        at = self.place(number, 4)
        if at is None:
            return []
        count, start = self.buffer.vector(self.buffer.follow(at), 4)
        if count > self.buffer.tables:
            raise BudgetError("tables")
        return [self.buffer.table(self.buffer.follow(start + 4 * index)) for index in range(count)]

    def integers(self, number: int) -> tuple[int, ...]:
        """The numbers of a vector, one by one."""
        result = self.array(number, "<i4")
        self.buffer.numbers -= len(result)
        if self.buffer.numbers < 0:
            raise BudgetError("numbers")
        return tuple(result.tolist())

    def array(self, number: int, dtype: str) -> Array:
        """The numbers of a vector, as they stand in the file: no copy is made."""
        at, kind = self.place(number, 4), np.dtype(dtype)
        if at is None:
            return np.zeros(0, kind)
        count, start = self.buffer.vector(self.buffer.follow(at), kind.itemsize)
        return np.frombuffer(self.buffer.data, kind, count, start)
