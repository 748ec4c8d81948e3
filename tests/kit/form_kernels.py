"""Kernels of floats for tests, in forms with padding: one that changes a sign, in groups of channels or in rows of a
pitch, and one that adds channels up, padding included.
"""

from __future__ import annotations

from dataclasses import replace

from tilewright.ir.graphs.graph import Site
from tilewright.ir.machines.kernel import Call, Kernel, TileShape
from tilewright.ir.tensors.dtypes import DType
from tilewright.ir.tensors.stored_form import Groups, Rows, Stored

GROUPS = Groups(axis=1, size=16)
PITCH = Rows(axes=(3,), multiple_bytes=16)


def images(site: Site) -> str | None:
    """Of floats."""
    is_image = len(site.input(0).shape) == 4 and site.input(0).dtype is DType.F32
    return None if is_image else "is no image of floats"


def sums(site: Site) -> str | None:
    """Of channels."""
    return images(site) if site.node.integers("axes") == (1,) else "adds up other axes"


def _walk(call: Call) -> dict[str, object]:
    """Loops around what is never cut, and where they are."""
    x, y = call.operands["X"], call.operands["Y"]
    names = [f"i{axis}" for axis in range(len(x.shape) - 1)]
    heads = [f"for (int32_t {name} = 0; {name} < {x.extents[axis]}; ++{name})" for axis, name in enumerate(names)]
    at = [" + ".join(f"{name} * {side.strides[axis]}" for axis, name in enumerate(names)) for side in (x, y)]
    return {"heads": heads, "at": at, "count": x.shape[-1]}


def _cheap(tile: TileShape) -> float:
    return float(tile.site.output.elements) / 64


NEG = Kernel(
    name="acme.neg16",
    op="Neg",
    match=images,
    stored=lambda site: {"X": Stored(form=GROUPS), "Y": Stored(form=GROUPS)},
    access="n c h w : X[n, c, h, w, :] -> Y[n, c, h, w, :]",
    cycles=_cheap,
    parallel=("*",),
    values=_walk,
    call="""\
% for head in heads:
${head}
% endfor
for (int32_t k = 0; k < ${count}; ++k) { (${Y} + ${at[1]})[k] = -(${X} + ${at[0]})[k]; }""",
)
CLEAN_NEG = replace(
    NEG,
    name="acme.neg16_clean",
    stored=lambda site: {"X": Stored(form=GROUPS, fill=0.0), "Y": Stored(form=GROUPS, fill=0.0)},
)
NEG_ROWS = replace(
    NEG,
    name="acme.neg_rows",
    stored=lambda site: {"X": Stored(form=PITCH), "Y": Stored(form=PITCH)},
    access="n c h : X[n, c, h, :] -> Y[n, c, h, :]",
)
SUM = Kernel(
    name="acme.sum16",
    op="ReduceSum",
    match=sums,
    stored=lambda site: {"X": Stored(form=GROUPS, fill=0.0)},
    access="n h w c : X[n, c, h, w, :] -> Y[n, :, h, w]",
    cycles=_cheap,
    values=lambda call: {"x": call.operands["X"], "y": call.operands["Y"], "groups": call.extents["c"]},
    call="""\
for (int32_t n = 0; n < ${y.extents[0]}; ++n)
for (int32_t h = 0; h < ${y.extents[2]}; ++h)
for (int32_t w = 0; w < ${y.extents[3]}; ++w) {
    float sum = 0.0f;
    for (int32_t c = 0; c < ${groups}; ++c)
    for (int32_t k = 0; k < 16; ++k) {
        sum += (${X})[n * ${x.strides[0]} + c * ${x.strides[1]} + h * ${x.strides[2]} + w * ${x.strides[3]} + k];
    }
    (${Y})[n * ${y.strides[0]} + h * ${y.strides[2]} + w * ${y.strides[3]}] = sum;
}""",
)
