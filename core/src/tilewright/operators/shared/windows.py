"""Knows sliding windows: kernel, strides, dilations and pads of Conv and the pools, shapes that follow, numbers for C.
Does not know what is computed in a window.

Normal form: attributes `kernel_shape`, `strides`, `dilations`, `pads` (all begins, then all ends) and
`ceil_mode`, always present and explicit. One to three spatial axes, named `d h w` (outputs) and `z y x` (taps)
from the last one back.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, TypeVar

from tilewright.ir.graphs.graph import Attribute, Node, Site
from tilewright.ir.graphs.importing import Conversion, OnnxNode
from tilewright.ir.machines.kernel import Call, Operand
from tilewright.ir.rounding import ceil_div
from tilewright.ir.tensors.layout import Layout, channels_last
from tilewright.operators.c_code.c_elements import c_initialiser
from tilewright.operators.shared.refusals import shape_error

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Scalar = TypeVar("Scalar", bound="np.generic")

OUTPUT_LOOPS, TAP_LOOPS = ("d", "h", "w"), ("z", "y", "x")
C_AXES = ("depth", "row", "column")
MAX_SPATIAL = 3
_LARGEST = 2**30  # positions, padding included, stay within int32_t

WINDOW_ATTRIBUTES = {"auto_pad": "STRING", "kernel_shape": "INTS", "pads": "INTS", "strides": "INTS"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Windows:
    """One entry per spatial axis. `before` and `after` are the padding at both ends."""

    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    before: tuple[int, ...]
    after: tuple[int, ...]
    ceil_mode: bool = False

    @property
    def rank(self) -> int:
        """Spatial axes."""
        return len(self.kernel)

    @property
    def reach(self) -> tuple[int, ...]:
        """Positions from the first to the last tap."""
        return tuple((taps - 1) * step + 1 for taps, step in zip(self.kernel, self.dilations, strict=True))

    @property
    def two_axes(self) -> Windows:
        """The same windows with one row, where there is only one axis."""
        if self.rank != 1:
            return self
        return Windows(
            kernel=(1, *self.kernel), strides=(1, *self.strides), dilations=(1, *self.dilations),
            before=(0, *self.before), after=(0, *self.after), ceil_mode=self.ceil_mode,
        )  # fmt: skip

    def outputs(self, extents: Sequence[int]) -> tuple[int, ...]:
        """Windows along each axis of an input with these extents; below 1 where not even one fits.

        With `ceil_mode` one more may reach beyond the padding; then the last window does not count if it starts in the
        padding after the input, whether it is that one or not.
        """
        result = []
        for axis, extent in enumerate(extents):
            stride, end = self.strides[axis], extent + self.before[axis]
            positions = end + self.after[axis] - self.reach[axis]
            count = (ceil_div(positions, stride) if self.ceil_mode else positions // stride) + 1
            if self.ceil_mode and (count - 1) * stride >= end:
                count -= 1
            result.append(count)
        return tuple(result)

    def attributes(self) -> dict[str, Attribute]:
        """The normal form."""
        return {
            "kernel_shape": self.kernel,
            "strides": self.strides,
            "dilations": self.dilations,
            "pads": (*self.before, *self.after),
            "ceil_mode": int(self.ceil_mode),
        }

    def map_indices(self) -> tuple[str, ...]:
        """The spatial indices of an index map, `h*sh+y*dh-ph?` and so on."""
        pairs = zip(self.output_loops, self.tap_loops, strict=True)
        return tuple(f"{out}*s{out}+{tap}*d{out}-p{out}?" for out, tap in pairs)

    def map_values(self) -> dict[str, int]:
        """The attributes that `map_indices` and the declared tap loops name (`y<ky`)."""
        values: dict[str, int] = {}
        for axis, (out, tap) in enumerate(zip(self.output_loops, self.tap_loops, strict=True)):
            values |= {f"s{out}": self.strides[axis], f"d{out}": self.dilations[axis], f"p{out}": self.before[axis]}
            values[f"k{tap}"] = self.kernel[axis]
        return values

    @property
    def output_loops(self) -> tuple[str, ...]:
        """Loop names over windows."""
        return OUTPUT_LOOPS[MAX_SPATIAL - self.rank :]

    @property
    def tap_loops(self) -> tuple[str, ...]:
        """Loop names over the taps of a window."""
        return TAP_LOOPS[MAX_SPATIAL - self.rank :]


def tap_views(x: npt.NDArray[Scalar], windows: Windows, fill: float, lead: int = 2) -> Iterator[npt.NDArray[Scalar]]:
    """For each tap, row-major, what all windows see through it: `[N, C, outputs...]`, padding read as `fill`.

    The spatial axes of `x` follow `lead` others.
    """
    import numpy as np

    outputs = windows.outputs(x.shape[lead:])
    margins = [(0, 0)] * lead
    for axis, count in enumerate(outputs):
        needed = (count - 1) * windows.strides[axis] + windows.reach[axis]
        margins.append((windows.before[axis], max(0, needed - windows.before[axis] - x.shape[lead + axis])))
    padded = np.pad(x, margins, constant_values=fill)
    for tap in product(*(range(extent) for extent in windows.kernel)):
        cut = [slice(None)] * lead
        for at, dilation, count, stride in zip(tap, windows.dilations, outputs, windows.strides, strict=True):
            cut.append(slice(at * dilation, at * dilation + (count - 1) * stride + 1, stride))
        yield padded[tuple(cut)]


def windows_of(node: Node) -> Windows:
    """The windows of a node in normal form. Along an axis with one tap there is no dilation, whatever the file says."""
    pads, kernel = node.integers("pads"), node.integers("kernel_shape")
    dilations = zip(kernel, node.integers("dilations"), strict=True)
    return Windows(
        kernel=kernel,
        strides=node.integers("strides"),
        dilations=tuple(1 if taps == 1 else dilation for taps, dilation in dilations),
        before=pads[: len(pads) // 2],
        after=pads[len(pads) // 2 :],
        ceil_mode=bool(node.integer("ceil_mode")),
    )


def inferred_outputs(site: Site) -> tuple[int, ...]:
    """The spatial extents of a node's output. TilewrightError where the window does not fit."""
    windows, extents = windows_of(site.node), site.input(0).shape[2:]
    if len(extents) != windows.rank:
        raise shape_error(site, f"X has {len(extents)} spatial axes, the kernel {list(windows.kernel)} {windows.rank}")
    outputs = windows.outputs(extents)
    if any(count < 1 for count in outputs):
        raise shape_error(site, f"a window that reaches over {list(windows.reach)} does not fit into the padded input")
    return outputs


def import_windows(
    node: OnnxNode, graph: Conversion, extents: Sequence[int], kernel: Sequence[int], *, ceil_mode: bool = False
) -> Windows:
    """Read and check the attributes of an ONNX Conv or pool over an input with these spatial extents.

    `auto_pad` becomes explicit pads: SAME_UPPER puts the odd one after, SAME_LOWER before. Raises a refusal.
    """
    rank = len(extents)
    if not 1 <= rank <= MAX_SPATIAL:
        raise graph.refuse(node, f"{rank} spatial axes; 1, 2 and 3 are supported")
    strides = node.integers("strides") or (1,) * rank
    dilations = node.integers("dilations") or (1,) * rank
    pads = node.integers("pads") or (0,) * (2 * rank)
    mode = node.text("auto_pad", "NOTSET") or "NOTSET"
    for name, values, length, least in (
        ("kernel_shape", kernel, rank, 1),
        ("strides", strides, rank, 1),
        ("dilations", dilations, rank, 1),
        ("pads", pads, 2 * rank, 0),
    ):
        if len(values) != length or any(not least <= value <= _LARGEST for value in values):
            raise graph.refuse(
                node, f"{name} is {list(values)}; {length} values between {least} and {_LARGEST} are needed"
            )
    windows = Windows(
        kernel=tuple(kernel), strides=strides, dilations=dilations, before=pads[:rank], after=pads[rank:],
        ceil_mode=ceil_mode,
    )  # fmt: skip
    windows = _padded(node, graph, windows, extents, mode)
    positions = zip(extents, windows.before, windows.after, windows.reach, strict=True)
    if any(max(extent + before + after, reach) > _LARGEST for extent, before, after, reach in positions):
        raise graph.refuse(node, f"the padded input or the dilated kernel is longer than {_LARGEST} positions")
    return windows


def _padded(node: OnnxNode, graph: Conversion, windows: Windows, extents: Sequence[int], mode: str) -> Windows:
    if mode == "NOTSET":
        return windows
    if mode not in ("SAME_UPPER", "SAME_LOWER", "VALID"):
        raise graph.refuse(node, f"auto_pad is {mode!r}; NOTSET, SAME_UPPER, SAME_LOWER and VALID are known")
    total = [0] * windows.rank
    if mode != "VALID":
        for axis, (extent, stride) in enumerate(zip(extents, windows.strides, strict=True)):
            total[axis] = max(0, (ceil_div(extent, stride) - 1) * stride + windows.reach[axis] - extent)
    less, more = tuple(pad // 2 for pad in total), tuple(pad - pad // 2 for pad in total)
    before, after = (more, less) if mode == "SAME_LOWER" else (less, more)
    return Windows(
        kernel=windows.kernel, strides=windows.strides, dilations=windows.dilations, before=before, after=after
    )


def prefers_channels_last(site: Site) -> Mapping[str, Layout]:
    """The layouts that kernels of windows ask for: channels innermost in X and Y."""
    layout = channels_last(len(site.output.shape))
    return {"X": layout, "Y": layout}


def c_axes(windows: Windows, x: Operand, y: Operand, w_steps: Sequence[int] = ()) -> Mapping[str, str]:
    """`tw_axis` initialisers (window.h) of one call, by `C_AXES` name; axes that the tensor lacks have one window.

    Spatial axes of `x` and `y` start at 2. `w_steps` are the strides of the taps in the weights, if there are any.
    """
    axes = dict.fromkeys(C_AXES, "{.outputs = 1, .inputs = 1, .taps = 1, .stride = 1, .dilation = 1, .counted = 1}")
    for axis, name in enumerate(C_AXES[MAX_SPATIAL - windows.rank :]):
        at = axis + 2
        counted = _minus(x.shape[at] + windows.after[axis], x.origin[at])
        fields = {
            "outputs": y.extents[at],
            "inputs": x.extents[at],
            "taps": windows.kernel[axis],
            "stride": windows.strides[axis],
            "dilation": windows.dilations[axis],
            "before": x.before[at],
            "counted": counted,
            "x_step": x.strides[at],
            "y_step": y.strides[at],
            "w_step": w_steps[axis] if w_steps else 0,
        }
        axes[name] = c_initialiser(fields)
    return axes


def _minus(number: int, primary: str) -> str:
    return str(number - int(primary)) if primary.isdecimal() else f"{number} - {primary}"


def image_fields(call: Call) -> dict[str, object]:
    """Extents, steps and padding of the tile of X and Y that a call computes, [N, C, H, W] or [N, C, W] in any layout.

    `batches`, `rows`, `columns` and `outputs` (channels) are those of Y, `in_rows` and `in_columns` those of X; `top`
    and `left` are what lies before X; `x_batch` to `y_column` are steps in elements.
    """
    x, y = call.operands["X"], call.operands["Y"]
    flat = len(y.shape) == 3
    return {
        "batches": y.extents[0],
        "rows": "1" if flat else y.extents[2],
        "columns": y.extents[-1],
        "outputs": y.extents[1],
        "in_rows": "1" if flat else x.extents[2],
        "in_columns": x.extents[-1],
        "top": "0" if flat else x.before[2],
        "left": x.before[-1],
        "x_batch": x.strides[0],
        "x_row": 0 if flat else x.strides[2],
        "x_column": x.strides[-1],
        "y_batch": y.strides[0],
        "y_row": 0 if flat else y.strides[2],
        "y_column": y.strides[-1],
    }


def tap_fields(windows: Windows) -> Mapping[str, int]:
    """Taps, strides and dilations of windows over one or two axes."""
    windows = windows.two_axes
    return {
        "row_taps": windows.kernel[0],
        "column_taps": windows.kernel[1],
        "row_stride": windows.strides[0],
        "column_stride": windows.strides[1],
        "row_dilation": windows.dilations[0],
        "column_dilation": windows.dilations[1],
    }
