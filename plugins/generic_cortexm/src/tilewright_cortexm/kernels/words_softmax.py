"""Knows QSoftmax of 16 bits in TensorFlow Lite Micro's arithmetic on Cortex-M: by the DSP extension and by Helium.
Does not know what is in the tables (`softmax_table`), nor the other arithmetic, nor values of 8 bits (`mve_tables`).

Each exponential is computed once, and kept where its result will be. A difference that is shifted to the left, then
doubled, must fit 32 bits.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tilewright.api.graph import DoubleRounding, DType, Site
from tilewright.api.kernel import Call, CodeFragments, Kernel, TileShape, nest, refused_softmax, softmax_table, walk
from tilewright.api.operator import Access, whole
from tilewright_cortexm.kernels.elementwise import NEST
from tilewright_cortexm.kernels.row_tiles import tile_elements
from tilewright_cortexm.kernels.sources import c_template

_PER_STEP = 10.0 / 65535  # what places of the exponentials are apart
_MOST = 14  # bits to the left
_EACH = {"dsp": 30.0, "mve": 7.0}  # instructions of an element, and of a row
_ROW = {"dsp": 90.0, "mve": 130.0}


def _axis(site: Site) -> int:
    return site.node.integer("axis", -1) % len(site.input(0).shape)


def _numbers(site: Site) -> tuple[int, int]:
    """What a difference is multiplied with, and by how many bits it is larger then."""
    return DoubleRounding().numbers(site.node.number("x_scale") / _PER_STEP)


def _match(site: Site) -> str | None:
    if site.input(0).dtype is not DType.I16 or site.node.rounding != "tflm":
        return "is not softmax of i16 in the arithmetic of tflm"
    if (reason := refused_softmax(site)) is not None:
        return reason
    exponent = _numbers(site)[1]
    return None if -31 < exponent <= _MOST else f"the scale {site.node.number('x_scale')} is too small or too large"


def _access(site: Site) -> Access:
    return whole({"X": site.input(0).shape, "T": softmax_table(site).shape}, {"Y": site.output.shape})


def _values(call: Call) -> Mapping[str, object]:
    x, y, axis = call.operands["X"], call.operands["Y"], _axis(call.site)
    others = [index for index in range(len(x.shape)) if index != axis]
    steps = {name: [operand.strides[index] for index in others] for name, operand in (("X", x), ("Y", y))}
    outer = nest(walk([y.extents[index] for index in others], steps, "Y"), 0)
    multiplier, exponent = _numbers(call.site)
    near = x.strides[axis] == 1 and y.strides[axis] == 1
    numbers = f"{y.shape[axis]}, {x.strides[axis]}, {y.strides[axis]}, {multiplier}"
    return {
        "name": f"words_softmax_{exponent}{'' if near else '_apart'}".replace("-", "m"),
        "near": near,
        "left": max(exponent, 0),
        "right": max(-exponent, 0),
        "nest": outer,
        "arguments": f"{x}{outer.offsets['X']}, {call.operands['T']}, {y}{outer.offsets['Y']}, {numbers}",
    }


_IN_C = c_template("${function}", "dsp_words_softmax.c.mako")
_HELIUM = c_template("${function}", "mve_words_softmax.c.mako")


def _kernel(engine: str) -> Kernel:
    """Elements that are no neighbours are computed one by one, as they are where there is no Helium."""

    def values(call: Call) -> Mapping[str, object]:
        row = _values(call)
        used = engine if row["near"] else "dsp"
        return {**row, "function": f"tw_{used}_{row['name']}", "in_c": f"tw_dsp_{row['name']}", "used": used}

    def source(call_values: Mapping[str, Any]) -> CodeFragments:
        in_c = _IN_C.of(function=call_values["in_c"])
        return (in_c, _HELIUM) if call_values["used"] == "mve" else (in_c,)

    def instructions(tile: TileShape) -> float:
        elements, shape, axis = tile_elements(tile), tile.site.output.shape, _axis(tile.site)
        each = _EACH[engine if axis == len(shape) - 1 else "dsp"]
        return each * elements + _ROW[engine] * elements / shape[axis] + 25

    return Kernel(
        name=f"cortex-m.{engine}.qsoftmax_words",
        op="QSoftmax",
        roundings=("tflm",),
        target="cortex-m",
        engine=engine,
        match=_match,
        access=_access,
        pack=lambda site: {"T": softmax_table(site)},
        in_place=lambda site: (("X", "Y"),),
        instructions=instructions,
        values=values,
        source=source,
        call=NEST + "${function}(${arguments});",
        includes=("<stdint.h>", "<string.h>"),
    )


KERNELS = (_kernel("dsp"), _kernel("mve"))
