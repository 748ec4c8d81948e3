"""Knows how a call over sliding windows is written: the fields of `tw_xp_windows`, see windows.c.
Does not know what is computed in a window.
"""

from __future__ import annotations

from collections.abc import Mapping

from tilewright.api.kernel import Call, Windows

WINDOWS_CALL = """\
${{function}}((tw_xp_windows){{
% for name, value in fields.items():
    .${{name}} = ${{value}},
% endfor
}}, {arguments});"""


def image_fields(call: Call) -> dict[str, object]:
    """Extents and steps of X and Y, channels last; an image of one axis is a single row."""
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
    """Taps, strides and dilations of windows over two axes."""
    return {
        "row_taps": windows.kernel[0],
        "column_taps": windows.kernel[1],
        "row_stride": windows.strides[0],
        "column_stride": windows.strides[1],
        "row_dilation": windows.dilations[0],
        "column_dilation": windows.dilations[1],
    }


def pad_word(value: int) -> str:
    """Four times the byte that a position outside holds, as C."""
    return f"UINT32_C(0x{(value & 255) * 0x01010101:08x})"


def two_axes(windows: Windows) -> Windows:
    """The same windows with one row, where there is only one axis."""
    if windows.rank == 2:
        return windows
    return Windows(
        kernel=(1, *windows.kernel), strides=(1, *windows.strides), dilations=(1, *windows.dilations),
        before=(0, *windows.before), after=(0, *windows.after),
    )  # fmt: skip
