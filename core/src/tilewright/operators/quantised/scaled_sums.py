"""Knows what may stand behind the sums of MatMulInteger and ConvInteger: S and F, whose product is their scale, and an
addend C, with which the result is float. Does not know whose sums these are, nor who computes the scales.

    y = f32(sum) * (S * F[channel]) + C[channel]        every operation rounded to float32, in this order

S has one element; F, and C where it is there, one, or one for each channel of the output. S may be absent; C not alone.
Sums wrap around in 32 bits before they are scaled, as they do where they are the result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from tilewright.ir.graphs.graph import Site
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.shared.refusals import shape_error

if TYPE_CHECKING:
    import numpy.typing as npt

    from tilewright.ir.machines.kernel import Call

    Array = npt.NDArray[np.generic]
    Integers = npt.NDArray[np.int64]

NAMES = ("S", "F", "C")
FIRST = 4  # input index of S: A and B, or X and W, and their zero points are before it
ONE: tuple[tuple[int, ...], ...] = ((), (1,))  # shapes of a single number


def is_scaled(site: Site) -> bool:
    """Whether the result is float."""
    return site.has_input(FIRST) or site.has_input(FIRST + 1)


def result_type(site: Site, channels: int) -> DType:
    """i32, or f32 of scaled sums. Refuses scales and addends that do not fit `channels`."""
    for index, name in enumerate(NAMES, FIRST):
        shapes = ONE if name == "S" else (*ONE, (channels,))
        if site.has_input(index) and (
            site.input(index).shape not in shapes or site.input(index).dtype is not DType.F32
        ):
            raise shape_error(site, f"{name} is f32 and has one element{'' if name == 'S' else f', or {channels}'}")
    if site.has_input(FIRST + 2) and not is_scaled(site):
        raise shape_error(site, "C is added to scaled sums only")
    return DType.F32 if is_scaled(site) else DType.I32


def scaled(site: Site, sums: Integers, stated: Sequence[Array | None], axis: int) -> Array:
    """The result of exact `sums`, whose channels lie along `axis`; `given` are all inputs."""
    whole = (sums & 0xFFFFFFFF).astype(np.uint32).view(np.int32)
    if not is_scaled(site):
        return whole
    s, f, c = (None if array is None else np.asarray(array, np.float32) for array in (*stated, *(None,) * 7)[FIRST:7])
    behind = (1,) * (sums.ndim - 1 - axis % sums.ndim)
    with np.errstate(all="ignore"):
        scale = np.float32(1) if s is None else s.reshape(-1)
        result = whole.astype(np.float32) * (scale if f is None else scale * f.reshape(-1)).reshape(-1, *behind)
        return np.asarray(result if c is None else result + c.reshape(-1, *behind), np.float32)


def map_operands(site: Site, loop: str) -> tuple[dict[str, tuple[int, ...]], str]:
    """Shapes of the inputs that are there, and their part of an index map in which `loop` counts channels."""
    shapes = {name: site.input(index).shape for index, name in enumerate(NAMES, FIRST) if site.has_input(index)}
    return shapes, "".join(f" {name}[{place(shape, loop)}]" for name, shape in shapes.items())


def place(shape: tuple[int, ...], loop: str) -> str:
    """The index of a parameter that is one number, or has one for each iteration of `loop`."""
    return "" if not shape else "0" if shape == (1,) else loop


def c_values(call: Call) -> Mapping[str, object]:
    """What the templates of both products want to know: whether there are scales, strides of F and C, arguments."""
    stated = {name: call.operands.get(name) for name in NAMES}
    steps = {
        f"{name.lower()}_step": operand.strides[0] if operand and operand.shape not in ONE else 0
        for name, operand in stated.items()
        if name != "S"
    }
    is_float = is_scaled(call.site)
    return {
        "is_float": is_float,
        "scale_fields": steps if is_float else {},
        "scale_arguments": "".join(f"{operand or '(const float *)0'}, " for operand in stated.values())
        if is_float
        else "",
    }
