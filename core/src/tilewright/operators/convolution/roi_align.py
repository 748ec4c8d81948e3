"""Knows RoiAlign: regions of images, divided into bins; each bin is the mean or the largest of what is read in it.
Does not know GridSample, which reads single positions.

Normal form: X[N, C, H, W], regions B[R, 4] (left, top, right, bottom), I[R], the image of each; attributes `mode` (avg,
max), `height` and `width` (bins), `samples` along each axis of a bin (0: as many as elements that it spans), `scale`
and `half_pixel`. Positions are computed in float32, step by step as in C, so that both read the same elements. The
largest is that of the neighbours' weighted values, as ONNX has it. An I that names no image is the nearest that does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt

from tilewright.c_text.literals import c_float
from tilewright.ir.access.index_map import Access, parse_map
from tilewright.ir.graphs.graph import Attribute, Site, Tensor
from tilewright.ir.graphs.importing import Conversion, Import, OnnxNode
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Call, Kernel
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.c_code.c_elements import c_initialiser
from tilewright.operators.c_code.c_source import c_template
from tilewright.operators.shared.float_results import TINY, UNIT
from tilewright.operators.shared.refusals import shape_error

Array = npt.NDArray[np.generic]
Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]

_MOST_SAMPLES = 4096  # along an axis of a bin
_HALF_PIXEL = 16  # the operator set from which regions are half an element further to the front, unless told otherwise
_MODES = ("avg", "max")


@dataclass(frozen=True, slots=True, kw_only=True)
class Samples:
    """What a region reads along one axis: [bins, samples] of two neighbours, the upper's share, and 0 for nothing."""

    low: Places
    high: Places
    above: Doubles
    there: Doubles


def _infer(site: Site) -> tuple[Tensor, ...]:
    x, regions, images = (site.input(index).shape for index in range(3))
    if len(x) != 4 or 0 in (x[0], *x[2:]) or len(regions) != 2 or regions[1] != 4 or images != regions[:1]:
        raise shape_error(site, "X is [N, C, H, W], regions are [R, 4], and there is an image for each")
    bins = (site.node.integer("height"), site.node.integer("width"))
    return (Tensor(name=site.node.outputs[0], dtype=site.input(0).dtype, shape=(regions[0], x[1], *bins)),)


def along(low: np.float32, high: np.float32, size: int, bins: int, site: Site) -> Samples:
    """Where a region from `low` to `high` is read, in an image of `size` elements."""
    offset, scale = np.float32(0.5 * site.node.integer("half_pixel")), np.float32(site.node.number("scale"))
    start = low * scale - offset
    extent = high * scale - offset - start
    if not offset and not extent >= 1:
        extent = np.float32(1)
    bin_size = extent / np.float32(bins)
    count = site.node.integer("samples")
    if not count and bin_size > 0:
        count = min(int(np.ceil(min(bin_size, np.float32(_MOST_SAMPLES)))), _MOST_SAMPLES)
    within = (np.arange(count, dtype=np.float32) + np.float32(0.5)) * bin_size / np.float32(count)
    position = (start + np.arange(bins, dtype=np.float32) * bin_size)[:, None] + within
    there = (position >= -1) & (position <= size)
    inside = np.where(there, np.maximum(position, np.float32(0)), np.float32(0))
    place = np.minimum(inside.astype(np.int64), size - 1)
    is_last = place == size - 1
    return Samples(
        low=place,
        high=np.where(is_last, place, place + 1),
        above=np.where(is_last, 0, inside.astype(np.float64) - place),
        there=there.astype(np.float64),
    )


def _bins(image: Doubles, rows: Samples, columns: Samples, mode: str) -> Doubles:
    """[C, bins, bins] of one region of an image."""
    if 0 in (rows.low.size, columns.low.size):
        return np.zeros((len(image), len(rows.low), len(columns.low)))
    there = rows.there[:, :, None, None] * columns.there
    ends = ((rows.low, 1 - rows.above), (rows.high, rows.above)), ((columns.low, 1 - columns.above),
                                                                  (columns.high, columns.above))  # fmt: skip
    parts = [
        image[:, row[:, :, None, None], column] * (there * row_share[:, :, None, None] * column_share)
        for (row, row_share), (column, column_share) in product(*ends)
    ]
    if mode == "avg":
        return np.asarray(np.mean(sum(parts), axis=(2, 4)))
    return np.asarray(np.max(np.max(parts, axis=0), axis=(2, 4)))


def _aligned(site: Site, inputs: Sequence[Array | None], mode: str, *, magnitude: bool = False) -> Doubles:
    x, regions = np.asarray(inputs[0], np.float64), np.asarray(inputs[1], np.float32)
    images = np.clip(np.asarray(inputs[2], np.int64), 0, x.shape[0] - 1)
    bins = np.zeros(site.output.shape)
    with np.errstate(all="ignore"):
        for index, (left, top, right, bottom) in enumerate(regions):
            image = x[images[index]]
            rows = along(top, bottom, x.shape[2], bins.shape[2], site)
            columns = along(left, right, x.shape[3], bins.shape[3], site)
            bins[index] = _bins(np.abs(image) if magnitude else image, rows, columns, mode)
    return bins


def _tolerance(site: Site, inputs: Sequence[Array | None]) -> tuple[Array | None, ...]:
    """A sum over the samples of a bin, or one product of three factors."""
    size = _aligned(site, inputs, "avg" if site.node.attributes["mode"] == "avg" else "max", magnitude=True)
    samples = (site.node.integer("samples") or max(site.input(0).shape[2:])) ** 2
    return ((16 + 4 * samples) * UNIT * size + 64 * TINY,)


def _access(site: Site) -> Access:
    """A region may be anywhere in any image."""
    shapes = {name: site.input(index).shape for index, name in enumerate("XBI")}
    return parse_map("r c h w : X[:,c,:,:] B[r,:] I[r] -> Y[r,c,h,w]").bind({**shapes, "Y": site.output.shape})


def _match(site: Site) -> str | None:
    types = tuple(site.input(index).dtype for index in range(3))
    if types == (DType.F32, DType.F32, DType.I64):
        return None
    return f"X and regions must be f32, images i64, found {', '.join(dtype.value for dtype in types)}"


def _values(call: Call) -> Mapping[str, object]:
    x, regions, images, y = (call.operands[name] for name in "XBIY")
    node = call.site.node
    mode, half = str(node.attributes["mode"]), bool(node.integer("half_pixel"))
    axes = {}
    for axis, name in ((2, "row"), (3, "column")):
        fields = {
            "size": x.shape[axis],
            "bins": y.shape[axis],
            "first": y.origin[axis],
            "outputs": y.extents[axis],
            "x_step": x.strides[axis],
            "y_step": y.strides[axis],
        }
        axes[name] = c_initialiser(fields)
    return {
        "function": f"tw_roi_align_{mode}{'_half_pixel' if half else ''}",
        "mode": mode,
        "offset": "0.5f" if half else "0.0f",
        "fields": {
            "images": x.shape[0],
            "regions": y.extents[0],
            "channels": y.extents[1],
            "x_image": x.strides[0],
            "x_channel": x.strides[1],
            "b_region": regions.strides[0],
            "b_part": regions.strides[1],
            "i_step": images.strides[0],
            "y_region": y.strides[0],
            "y_channel": y.strides[1],
            "samples": node.integer("samples"),
            "scale": c_float(float(np.float32(node.number("scale")))),
            **axes,
        },
    }


def _import(node: OnnxNode, graph: Conversion) -> None:
    mode, height, width = node.text("mode", "avg"), node.integer("output_height", 1), node.integer("output_width", 1)
    samples, scale = node.integer("sampling_ratio"), node.number("spatial_scale", 1.0)
    default = "half_pixel" if node.version >= _HALF_PIXEL else "output_half_pixel"
    rule = node.text("coordinate_transformation_mode", default)
    if mode not in _MODES or rule not in ("half_pixel", "output_half_pixel"):
        raise graph.refuse(node, f"mode is {mode!r}, coordinate_transformation_mode {rule!r}")
    if min(height, width) < 1 or not 0 <= samples <= _MOST_SAMPLES or not np.isfinite(scale):
        raise graph.refuse(node, f"it makes {height} by {width} bins of {samples} samples at a scale of {scale:g}")
    attributes: dict[str, Attribute] = {
        "mode": mode,
        "height": height,
        "width": width,
        "samples": samples,
        "scale": scale,
        "half_pixel": int(rule == "half_pixel"),
    }
    graph.emit(node, "RoiAlign", node.inputs, node.outputs, attributes)


_BINS = {
    "mode": "STRING",
    "output_height": "INT",
    "output_width": "INT",
    "sampling_ratio": "INT",
    "spatial_scale": "FLOAT",
}

ROI_ALIGN = Operator(
    name="RoiAlign",
    inputs=("X", "B", "I"),
    outputs=("Y",),
    summary="regions of images, which the program computes, each divided into bins of one size",
    infer=_infer,
    reference=lambda site, inputs: (_aligned(site, inputs, str(site.node.attributes["mode"])).astype(np.float32),),
    access=_access,
    tolerance=_tolerance,
    macs=lambda site: site.output.elements * 4 * (site.node.integer("samples") or 1) ** 2,
    imports=(
        Import(op_type="RoiAlign", since=10, attributes=_BINS, convert=_import, min_inputs=3, max_inputs=3),
        Import(
            op_type="RoiAlign",
            since=16,
            attributes={**_BINS, "coordinate_transformation_mode": "STRING"},
            convert=_import,
            min_inputs=3,
            max_inputs=3,
        ),
    ),
)

ROI_ALIGN_F32 = Kernel(
    name="portable.roi_align_f32",
    op="RoiAlign",
    parallel=("*",),
    match=_match,
    values=_values,
    source=(c_template("${function}", "roi_align.c.mako"),),
    call="""\
${function}((tw_roi_align){
% for name, value in fields.items():
        .${name} = ${value},
% endfor
    }, ${X}, ${B}, ${I}, ${Y});""",
    includes=("<stdint.h>", "<math.h>"),
)

OPERATORS = (ROI_ALIGN,)
KERNELS = (ROI_ALIGN_F32,)
