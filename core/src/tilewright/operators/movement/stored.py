"""Knows ToStored and FromStored: a value into the form in which a kernel stores it, with padding, and back. No ONNX
node becomes one; `bind` puts them where a form begins or ends. Does not know which kernels have which form.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
import numpy.typing as npt

from tilewright.c_text.literals import c_element
from tilewright.ir.access.index_map import Access, parse_map
from tilewright.ir.graphs.graph import Site, Tensor
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.graphs.stored_sites import stored_operands, stored_tensor
from tilewright.ir.machines.kernel import Call, Kernel, Operand
from tilewright.ir.tensors.stored_form import Groups, Rows, StoredValue
from tilewright.operators.movement.copying import COPY_CALL, COPY_INCLUDES, Move, copy_source, copy_values

Array = npt.NDArray[np.generic]


def _value(site: Site) -> StoredValue:
    """The form, of whichever side has it."""
    (value,) = stored_operands(site.node).values()
    return value


def _infer_to(site: Site) -> tuple[Tensor, ...]:
    return (stored_tensor(site.input(0), _value(site), site.node.outputs[0]),)


def _infer_from(site: Site) -> tuple[Tensor, ...]:
    return (Tensor(name=site.node.outputs[0], dtype=site.input(0).dtype, shape=_value(site).shape),)


def _texts(value: StoredValue) -> tuple[str, str]:
    """Indices of the value and of what is stored: groups and rows are never cut."""
    loops, form = [f"a{axis}" for axis in range(len(value.shape))], value.stored.form
    if isinstance(form, Groups):
        plain = [":" if axis == form.axis else loop for axis, loop in enumerate(loops)]
        return ", ".join(plain), ", ".join((*plain, ":"))
    plain = [":" if axis in form.axes else loop for axis, loop in enumerate(loops)]
    return ", ".join(plain), ", ".join((*(index for index in plain if index != ":"), ":"))


def _access(site: Site) -> Access:
    value = _value(site)
    logical, stored = _texts(value)
    source, target = (logical, stored) if site.node.op == "ToStored" else (stored, logical)
    loops = " ".join(index for index in logical.split(", ") if index != ":")
    text = f"{loops} : X[{source}] -> Y[{target}]"
    return parse_map(text).bind({"X": site.input(0).shape, "Y": site.output.shape})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Copy:
    """Loops, outermost first, and how far each side moves with them; where both begin, in elements."""

    extents: tuple[str, ...]
    value_steps: tuple[int, ...]
    stored_steps: tuple[int, ...]
    value_first: int = 0
    stored_first: int = 0
    padding: bool = False  # nothing of the value goes there


def _copies(value: StoredValue, plain: Operand, stored: Operand) -> list[_Copy]:
    """Whole groups, what is left, and padding."""
    form = value.stored.form
    return _of_groups(form, plain, stored) if isinstance(form, Groups) else _of_rows(form, plain, stored)


def _of_groups(form: Groups, plain: Operand, stored: Operand) -> list[_Copy]:
    others = [axis for axis in range(len(plain.shape)) if axis != form.axis]
    extents = tuple(plain.extents[axis] for axis in others)
    steps = tuple(tuple(side.strides[axis] for axis in others) for side in (plain, stored))
    whole, left = divmod(plain.shape[form.axis], form.size)
    along, group, inner = plain.strides[form.axis], stored.strides[form.axis], stored.strides[-1]
    full = _Copy(
        extents=(*extents, str(whole), str(form.size)),
        value_steps=(*steps[0], along * form.size, along),
        stored_steps=(*steps[1], group, inner),
    )
    rest = _Copy(
        extents=(*extents, str(left)),
        value_steps=(*steps[0], along),
        stored_steps=(*steps[1], inner),
        value_first=whole * form.size * along,
        stored_first=whole * group,
    )
    padding = _Copy(
        extents=(*extents, str(form.size - left)),
        value_steps=(0,) * len(rest.value_steps),
        stored_steps=rest.stored_steps,
        stored_first=whole * group + left * inner,
        padding=True,
    )
    return [*([full] if whole else []), *([rest, padding] if left else [])]


def _of_rows(form: Rows, plain: Operand, stored: Operand) -> list[_Copy]:
    others = form.others(len(plain.shape))
    extents = tuple(plain.extents[axis] for axis in others)
    inner, lengths = stored.strides[-1], [plain.shape[axis] for axis in form.axes]
    used, within = prod(lengths), [prod(lengths[at + 1 :]) * inner for at in range(len(lengths))]
    row = _Copy(
        extents=(*extents, *map(str, lengths)),
        value_steps=(*(plain.strides[axis] for axis in others), *(plain.strides[axis] for axis in form.axes)),
        stored_steps=(*stored.strides[:-1], *within),
    )
    padding = _Copy(
        extents=(*extents, str(stored.shape[-1] - used)),
        value_steps=(0,) * len(stored.strides),
        stored_steps=stored.strides,
        stored_first=used * inner,
        padding=True,
    )
    return [row, *([padding] if stored.shape[-1] > used else [])]


def _into(call: Call) -> Mapping[str, object]:
    x, y, value = call.operands["X"], call.operands["Y"], _value(call.site)
    fill = c_element(0 if value.stored.fill is None else value.stored.fill, y.dtype)
    moves = [
        Move(
            source=f"(const {x.dtype.c_type}[]){{{fill}}}" if copy.padding else _at(x, copy.value_first),
            target=_at(y, copy.stored_first),
            extents=copy.extents,
            source_steps=copy.value_steps,
            target_steps=copy.stored_steps,
        )
        for copy in _copies(value, x, y)
        if not copy.padding or value.stored.fill is not None
    ]
    return copy_values(y.dtype, moves)


def _out_of(call: Call) -> Mapping[str, object]:
    x, y = call.operands["X"], call.operands["Y"]
    moves = [
        Move(
            source=_at(x, copy.stored_first),
            target=_at(y, copy.value_first),
            extents=copy.extents,
            source_steps=copy.stored_steps,
            target_steps=copy.value_steps,
        )
        for copy in _copies(_value(call.site), y, x)
        if not copy.padding
    ]
    return copy_values(y.dtype, moves)


def _at(operand: Operand, first: int) -> str:
    return f"{operand} + {first}" if first else str(operand)


def _stored(site: Site, inputs: Sequence[Array | None]) -> tuple[Array, ...]:
    return (_value(site).put(np.asarray(inputs[0])),)


def _taken(site: Site, inputs: Sequence[Array | None]) -> tuple[Array, ...]:
    return (_value(site).take(np.asarray(inputs[0])),)


TO_STORED = Operator(
    name="ToStored",
    inputs=("X",),
    outputs=("Y",),
    summary="a value into the form, with padding, in which a kernel stores it",
    infer=_infer_to,
    reference=_stored,
    access=_access,
)
FROM_STORED = Operator(
    name="FromStored",
    inputs=("X",),
    outputs=("Y",),
    summary="a value out of the form, with padding, in which a kernel stores it",
    infer=_infer_from,
    reference=_taken,
    access=_access,
)

OPERATORS = (TO_STORED, FROM_STORED)
KERNELS = tuple(
    Kernel(
        name=name,
        op=operator.name,
        parallel=("*",),
        values=values,
        source=copy_source,
        call=COPY_CALL,
        includes=COPY_INCLUDES,
    )
    for name, operator, values in (
        ("portable.to_stored", TO_STORED, _into),
        ("portable.from_stored", FROM_STORED, _out_of),
    )
)
