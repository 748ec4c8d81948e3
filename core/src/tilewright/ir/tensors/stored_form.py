"""Knows forms in which a kernel stores a value with elements between that mean nothing: an axis in groups, rows of a
pitch; how arrays go into a form and come back. Does not know graphs, kernels, or where conversions stand.

What is stored is a dense tensor of its own shape, row-major unless a layout says otherwise, so that all that is known
of tensors holds: bytes are counted, groups are never cut, tiles are made of whole ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from tilewright.ir.rounding import align_up, ceil_div

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]


@dataclass(frozen=True, slots=True, kw_only=True)
class Groups:
    """An axis in groups of `size`, one group a block of its own: `[N, C, H, W]` is stored `[N, C/16, H, W, 16]`.

    The last group is filled up where `size` does not divide the axis.
    """

    axis: int
    size: int

    def __str__(self) -> str:
        return f"axis {self.axis} in groups of {self.size}"

    @property
    def short(self) -> str:
        """For names of values."""
        return f"a{self.axis}x{self.size}"

    def fault(self, shape: Sequence[int]) -> str:
        """Why values of this shape cannot be stored so; empty where they can."""
        if not 0 <= self.axis < len(shape):
            return f"there is no axis {self.axis}"
        return "" if self.size > 1 else f"groups of {self.size} are none"

    def shape(self, shape: Sequence[int], item_bytes: int) -> tuple[int, ...]:
        """What is stored."""
        groups = ceil_div(shape[self.axis], self.size)
        return (*shape[: self.axis], groups, *shape[self.axis + 1 :], self.size)

    def store(self, array: Array, fill: object, item_bytes: int) -> Array:
        """`array` in this form, padding `fill`."""
        import numpy as np

        lacking = -array.shape[self.axis] % self.size
        pads = [(0, lacking if axis == self.axis else 0) for axis in range(array.ndim)]
        filled = np.pad(array, pads, constant_values=np.asarray(fill, array.dtype))
        split = filled.reshape(*array.shape[: self.axis], -1, self.size, *array.shape[self.axis + 1 :])
        return np.ascontiguousarray(np.moveaxis(split, self.axis + 1, -1))

    def load(self, stored: Array, shape: Sequence[int]) -> Array:
        """The value of `shape` in what is stored."""
        import numpy as np

        joined = np.moveaxis(stored, -1, self.axis + 1)
        filled = joined.reshape(*shape[: self.axis], -1, *shape[self.axis + 1 :])
        return np.ascontiguousarray(np.take(filled, range(shape[self.axis]), axis=self.axis))


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Rows of `axes`, outermost first, each filled up to a multiple of `multiple_bytes`: with axes (3, 1) and 16 bytes
    `[1, 3, 8, 10]` of int8 is stored `[1, 8, 32]`. Such rows are never cut.
    """

    axes: tuple[int, ...]
    multiple_bytes: int

    def __str__(self) -> str:
        axes = f"{'axis' if len(self.axes) == 1 else 'axes'} {', '.join(map(str, self.axes))}".strip()
        return f"rows of {axes} in multiples of {self.multiple_bytes} B"

    @property
    def short(self) -> str:
        """For names of values."""
        return f"r{''.join(map(str, self.axes))}x{self.multiple_bytes}"

    def fault(self, shape: Sequence[int]) -> str:
        """Why values of this shape cannot be stored so; empty where they can."""
        if not self.axes or len(set(self.axes)) != len(self.axes):
            return f"{list(self.axes)} are no axes of a row"
        lost = next((axis for axis in self.axes if not 0 <= axis < len(shape)), None)
        if lost is not None:
            return f"there is no axis {lost}"
        return "" if self.multiple_bytes > 0 else f"there are no multiples of {self.multiple_bytes} B"

    def others(self, rank: int) -> tuple[int, ...]:
        """The axes that are as they were."""
        return tuple(axis for axis in range(rank) if axis not in self.axes)

    def shape(self, shape: Sequence[int], item_bytes: int) -> tuple[int, ...]:
        """What is stored. A pitch is a multiple of elements, too."""
        used = prod(shape[axis] for axis in self.axes)
        pitch = align_up(used * item_bytes, self.multiple_bytes)
        while pitch % item_bytes:
            pitch += self.multiple_bytes
        return (*(shape[axis] for axis in self.others(len(shape))), pitch // item_bytes)

    def store(self, array: Array, fill: object, item_bytes: int) -> Array:
        """`array` in this form, padding `fill`."""
        import numpy as np

        stored = self.shape(array.shape, item_bytes)
        rows = array.transpose(*self.others(array.ndim), *self.axes).reshape(*stored[:-1], -1)
        result = np.full(stored, np.asarray(fill, array.dtype))
        result[..., : rows.shape[-1]] = rows
        return result

    def load(self, stored: Array, shape: Sequence[int]) -> Array:
        """The value of `shape` in what is stored."""
        import numpy as np

        order = (*self.others(len(shape)), *self.axes)
        used = prod(shape[axis] for axis in self.axes)
        rows = stored[..., :used].reshape([shape[axis] for axis in order])
        return np.ascontiguousarray(rows.transpose(np.argsort(order)))


Form = Groups | Rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """A form and what its padding holds: `fill`, an element as it is stored, or with None anything."""

    form: Form
    fill: int | float | None = None

    def __str__(self) -> str:
        return f"{self.form}, padding {'anything' if self.fill is None else self.fill}"

    def serves(self, wanted: Stored) -> bool:
        """Whether what is stored so may be read where `wanted` is."""
        return self.form == wanted.form and wanted.fill in (None, self.fill)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredValue:
    """How a value of `shape` is stored: an attribute of nodes."""

    stored: Stored
    shape: tuple[int, ...]

    def put(self, array: Array, padding: object = 0) -> Array:
        """`array` as it is stored; `padding` is there where the form leaves it open."""
        fill = padding if self.stored.fill is None else self.stored.fill
        return self.stored.form.store(array, fill, array.dtype.itemsize)

    def take(self, array: Array) -> Array:
        """The value in what is stored."""
        return self.stored.form.load(array, self.shape)

    def padding(self, item_bytes: int) -> npt.NDArray[np.bool_]:
        """Where what is stored is no element of the value."""
        import numpy as np

        return self.stored.form.store(np.zeros(self.shape, bool), True, item_bytes).astype(bool)
