"""Knows the spectrum of a frame, its samples again, and the energy of its bins, as operators. Does not know channels,
nor how a transform is computed (`transforms`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tilewright.api.graph import DType, Site
from tilewright.api.kernel import Call
from tilewright.api.operator import Access
from tilewright_tflite.signals.parts import kernel, kind_of, operator, whole
from tilewright_tflite.signals.transforms import UNIT, Kind, samples_of, spectrum

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[Any]

_ROUNDED = 16  # times that a float is rounded in one step of a transform, at most, twiddles included


def _rows(inputs: Sequence[Any]) -> tuple[Kind, Array, Array, Array]:
    """The kind of numbers, rows of X, and both tables of pairs."""
    kind = Kind(np.asarray(inputs[0]).dtype)
    x, *tables = (np.asarray(array).astype(kind.wide) for array in inputs)
    table, last = (each.reshape(-1, 2) for each in tables)
    return kind, x.reshape(-1, x.shape[-1]), table, last


def _rfft(site: Site, inputs: Sequence[Any]) -> tuple[Any, ...]:
    kind, rows, table, last = _rows(inputs)
    samples = np.zeros((len(rows), 2 * len(table)), kind.wide)
    samples[:, : rows.shape[1]] = rows
    result = np.stack([spectrum(kind, each, table, last).reshape(-1) for each in samples])
    return (result.reshape(site.output.shape).astype(kind.dtype),)


def _irfft(site: Site, inputs: Sequence[Any]) -> tuple[Any, ...]:
    kind, rows, table, last = _rows(inputs)
    result = np.stack([samples_of(kind, each.reshape(-1, 2), table, last) for each in rows])
    return (result.reshape(site.output.shape).astype(kind.dtype),)


def _rounding(share: Callable[[int], float]) -> Callable[[Site, Sequence[Any]], tuple[Any, ...]]:
    """How far floats may be off: every step rounds sums of no more than all magnitudes. `share`, of the samples'
    number: what a result has of such a sum.
    """

    def tolerance(site: Site, inputs: Sequence[Any]) -> tuple[Any, ...]:
        x = np.asarray(inputs[0])
        if x.dtype.kind != "f":
            return (None,)
        count = site.input(1).shape[0]
        most = np.abs(x.astype(np.float64)).sum(axis=-1, keepdims=True) * share(count)
        steps = np.log2(count) + 2
        return (np.broadcast_to(_ROUNDED * steps * UNIT * most, site.output.shape),)

    return tolerance


def _energy(site: Site, inputs: Sequence[Any]) -> tuple[Any, ...]:
    x = np.asarray(inputs[0], np.int64).reshape(-1, 2)
    result = (x * x).sum(axis=-1)
    first, end = site.node.integer("first"), site.node.integer("end")
    result[:first], result[end:] = 0, 0
    return (result.astype(np.uint32),)


def _whole_rows(site: Site) -> Access:
    """Every result is made of everything, whether X has rows or is one."""
    axes = ",".join(":" * len(site.input(0).shape))
    return whole(f"X[{axes}] W[:] V[:]", f"Y[{axes}]")(site)


def _values(call: Call) -> dict[str, object]:
    """The kind of numbers, half the samples, and how many rows are how far apart."""
    x, y = call.operands["X"], call.operands["Y"]
    rows = x.extents[0] if len(x.extents) > 1 else 1
    apart = {"x_row": x.strides[0], "y_row": y.strides[0]} if len(x.extents) > 1 else {"x_row": 0, "y_row": 0}
    return {**kind_of(call), **apart, "rows": rows, "half": call.site.input(1).shape[0] // 2}


RFFT = operator(
    "RFFT",
    ("X", "W", "V"),
    (("Y", None),),
    "the spectrum of real samples, with zeros behind them: half as many bins, and one",
    _rfft,
    access=_whole_rows,
    shapes=lambda site: ((*site.input(0).shape[:-1], site.input(1).shape[0] + 2),),
    tolerance=_rounding(lambda count: 1.0),
)
IRFFT = operator(
    "IRFFT",
    ("X", "W", "V"),
    (("Y", None),),
    "the real samples of a spectrum, twice as many as its bins, less two",
    _irfft,
    access=_whole_rows,
    shapes=lambda site: ((*site.input(0).shape[:-1], site.input(1).shape[0]),),
    tolerance=_rounding(lambda count: 2.0 / count),
)
ENERGY = operator(
    "Energy",
    ("X",),
    (("Y", DType.U32),),
    "the square of each bin's magnitude, of those from first to end; 0 outside",
    _energy,
    ("first", "end"),
    access=whole("X[:]", "Y[:]"),
    shapes=lambda site: ((site.input(0).shape[0] // 2,),),
)

OPERATORS = (RFFT, IRFFT, ENERGY)
KERNELS = (
    kernel(RFFT, "${rows}, ${count}, ${X}, ${x_row}, ${x_step}, ${W}, ${w_step}, ${V}, ${v_step}, ${Y}, ${y_row}, "
           "${y_step}, ${half}", values=_values, shared="transform"),
    kernel(IRFFT, "${rows}, ${X}, ${x_row}, ${x_step}, ${W}, ${w_step}, ${V}, ${v_step}, ${Y}, ${y_row}, ${y_step}, "
           "${half}", values=_values, shared="transform"),
    kernel(ENERGY, "${first}, ${end}, ${half}, ${X}, ${x_step}, ${Y}, ${y_step}", words=("first", "end"),
           values=lambda call: {"half": call.site.output.shape[0]}),
)  # fmt: skip
