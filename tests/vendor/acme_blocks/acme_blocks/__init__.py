"""The Acme Blocks: a core that computes sixteen channels at once, and has them side by side: images are NC/16HW16.

Where sixteen does not divide the channels, a convolution reads whatever is in the rest, because its weights there are
0, and writes its zero point there. A pool leaves there what it finds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import numpy.typing as npt

from tilewright.api import align_up, hookimpl
from tilewright.api.graph import DType, Site
from tilewright.api.kernel import (
    Call,
    Groups,
    Kernel,
    Matched,
    ShiftUnit,
    Stored,
    UnitProof,
    centred_weights,
    fragment_file,
    image_fields,
    sum_requant,
    tap_fields,
    windows_of,
)  # fmt: skip
from tilewright.api.platform import CopyPath, Engine, Memory, Platform

LANES = Groups(axis=1, size=16)
UNIT = ShiftUnit(
    multiplier_bits=31, addend_bits=48, largest_shift=40, bits=64, rounding="half-even", shift_per_channel=True
)


def match_conv(site: Site) -> str | UnitProof:
    """Of int8, without groups of ONNX's kind, proved equal on what the core multiplies and shifts."""
    if len(site.output.shape) != 4 or {site.input(0).dtype, site.output.dtype} != {DType.I8}:
        return "is no image of int8"
    if site.node.integer("group", 1) != 1:
        return "has groups"
    proof = sum_requant(site, UNIT)
    return proof if proof.whole else next(reason for reason in proof.reasons if reason)


def pack_conv(site: Matched) -> Mapping[str, npt.NDArray[np.generic]]:
    """Weights by blocks of outputs and of inputs, tap by tap; multiplier, addend and shift of each lane."""
    weights = centred_weights(site)
    outputs, inputs, *taps = weights.shape
    whole = np.zeros((align_up(outputs, 16), align_up(inputs, 16), *taps), np.int16)
    whole[:outputs, :inputs] = weights
    split = whole.reshape(len(whole) // 16, 16, whole.shape[1] // 16, 16, *taps)
    bias = site.constant(2)
    proof, form = site.analysis, np.zeros((len(whole), 3), np.int64)
    form[:outputs] = np.stack([proof.multipliers, proof.addends, proof.shifts], axis=1)
    form[:outputs, 1] += form[:outputs, 0] * (0 if bias is None else bias.astype(np.int64))
    return {"W": np.ascontiguousarray(split.transpose(0, 2, 4, 5, 3, 1)), "F": form.reshape(-1, 16, 3)}


def image(call: Call) -> dict[str, object]:
    """What both kernels walk: X and Y are [N, C/16, H, W, 16]."""
    fields = image_fields(call)
    x, y = call.operands["X"], call.operands["Y"]
    names = {"rows": y, "columns": y, "in_rows": x, "in_columns": x}
    fields |= {name: of.extents[2 if "row" in name else 3] for name, of in names.items()}
    fields |= {"top": x.before[2], "left": x.before[3], "x_row": x.strides[2], "x_column": x.strides[3]}
    fields |= {"y_row": y.strides[2], "y_column": y.strides[3], "x_group": x.strides[1], "y_group": y.strides[1]}
    return {**fields, **tap_fields(windows_of(call.site.node))}


def conv_values(call: Call) -> Mapping[str, object]:
    """And what a convolution requantises with."""
    node, requant = call.site.node, call.site.node.requant()
    zero_point = node.integer("x_zero_point")
    numbers = {"zero_point": zero_point, "border": node.integer("pad_value", zero_point)}
    numbers |= {"y_zero_point": requant.zero_point, "low": requant.low, "high": requant.high}
    return {"fields": {**image(call), "inputs": call.extents["c"], **numbers}}


def taps(site: Matched) -> Mapping[str, int]:
    """Attributes of the maps."""
    windows = windows_of(site.node)
    names = ("sh", "sw", "dh", "dw", "ph", "pw", "kh", "kw")
    return dict(zip(names, (*windows.strides, *windows.dilations, *windows.before, *windows.kernel), strict=True))


WINDOW = "X[n, {}, i*sh + p*dh - ph?, j*sw + q*dw - pw?, :]"
CALL = "${name}((acme_image){\n% for name, value in fields.items():\n    .${name} = ${value},\n% endfor\n}, "
CONV = Kernel(
    name="acme.conv", op="QConv", target="acme-blocks", roundings=("*",), match=match_conv, pack=pack_conv,
    stored=lambda site: {
        "X": Stored(form=LANES),
        "Y": Stored(form=LANES, fill=min(max(site.node.requant().zero_point, site.node.requant().low),
                                         site.node.requant().high)),
    },
    access=f"n o i j c p<kh q<kw : {WINDOW.format('c')} W[o, c, p, q, :, :] F[o, :, :] -> Y[n, o, i, j, :]",
    attributes=taps, values=conv_values, source=(fragment_file("acme_blocks", "acme_conv.c"),),
    cycles=lambda tile: tile.extent("n") * tile.extent("o") * tile.extent("i") * tile.extent("j") * tile.extent("c")
    * tile.extent("p") * tile.extent("q") * 16.0,
    call=CALL.replace("${name}", "acme_conv", 1) + "${X}, ${W}, ${F}, ${Y});",
)  # fmt: skip


def match_pool(site: Site) -> str | None:
    """Of int8."""
    is_image = len(site.output.shape) == 4 and site.output.dtype is DType.I8
    return None if is_image and len(site.outputs) == 1 else "is no image of int8"


POOL = Kernel(
    name="acme.pool", op="MaxPool", target="acme-blocks", match=match_pool,
    stored=lambda site: {"X": Stored(form=LANES), "Y": Stored(form=LANES)},
    access=f"n o i j p<kh q<kw : {WINDOW.format('o')} -> Y[n, o, i, j, :]",
    attributes=taps, values=lambda call: {"fields": image(call)}, source=(fragment_file("acme_blocks", "acme_pool.c"),),
    cycles=lambda tile: tile.extent("n") * tile.extent("o") * tile.extent("i") * tile.extent("j")
    * tile.extent("p") * tile.extent("q") * 2.0,
    call=CALL.replace("${name}", "acme_pool", 1) + "${X}, ${Y});",
)  # fmt: skip


def path(source: str, target: str) -> CopyPath:
    """Two bytes a cycle."""
    return CopyPath(
        source=source, target=target, channels=2, cycles=lambda size_bytes, rows: 20.0 * rows + size_bytes / 2
    )


ACME_BLOCKS = Platform(
    name="acme-blocks", summary="Acme Blocks: a core with lanes for sixteen channels, 16 KiB of scratchpad",
    memories=(Memory(name="dram", size_bytes=1 << 20), Memory(name="pad", size_bytes=16 << 10)),
    engines=(Engine(name="lanes"),),
    copies=(path("dram", "pad"), path("pad", "dram")), backing="dram", inner="pad", runners=("twin",),
)  # fmt: skip


@hookimpl
def tilewright_platforms() -> Iterable[Platform]:
    """The only one."""
    return (ACME_BLOCKS,)


@hookimpl
def tilewright_kernels() -> Iterable[Kernel]:
    """Both."""
    return (CONV, POOL)
