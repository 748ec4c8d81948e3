"""Knows an image and its windows as numbers for a function in C: extents, steps, padding, taps; one axis is one row.
Does not know what is computed in a window.
"""

from __future__ import annotations

from collections.abc import Mapping

from tilewright.ir.machines.kernel import Call
from tilewright.operators.shared.windows import Windows


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
