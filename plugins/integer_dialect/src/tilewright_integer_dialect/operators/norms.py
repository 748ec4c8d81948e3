"""Knows iLayerNorm and iRMSNorm: rows over the root of their mean square. Does not know other rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tilewright.api.graph import DType, Site
from tilewright.api.kernel import Call, Kernel
from tilewright.api.operator import Operator
from tilewright_integer_dialect.operators.parts import (
    NEST,
    like_x,
    not_integers,
    row_values,
    rows,
    signature,
    source,
    taken_as,
)

_WORDS = ("shift", "low", "high")
_BYTE = 255  # how far two bytes are apart, at most


def _norm(site: Site, inputs: Sequence[Any]) -> tuple[Any, ...]:
    import numpy as np

    x, w = (np.asarray(array, np.int64) for array in inputs[:2])
    count, node = x.shape[-1], site.node
    if len(inputs) > 2:
        x = x - _truncated(x.sum(axis=-1, keepdims=True), count)
    root = _root((x * x).sum(axis=-1, keepdims=True) // count + 1)
    moved = _truncated(x * w, root) + (np.asarray(inputs[2], np.int64) if len(inputs) > 2 else 0)
    result = np.clip(moved >> node.integer("shift"), node.integer("low"), node.integer("high"))
    return (result.astype(site.output.dtype.numpy),)


def _truncated(above: Any, below: Any) -> Any:
    """Quotients towards zero, as C has them."""
    import numpy as np

    return np.sign(above) * (np.abs(above) // below)


def _root(squares: Any) -> Any:
    """Whole roots, rounded down: float64 is off by one at most."""
    import numpy as np

    root = np.sqrt(squares.astype(np.float64)).astype(np.int64)
    root -= root * root > squares
    return root + ((root + 1) * (root + 1) <= squares)


def _values(call: Call) -> Mapping[str, object]:
    centred = "B" in call.operands
    values = row_values(call, ("W", "B") if centred else ("W",))
    bits = _bits(call.site)
    name = f"tw_integer_{'layer' if centred else 'rms'}_norm_{values['types']}_{bits}"
    numbers = ", ".join(str(call.site.node.integer(word)) for word in _WORDS)
    return {**values, "function": name, "centred": centred, "bits": bits, "numbers": numbers}


def _bits(site: Site) -> int:
    """32 where neither squares nor products, nor these with what is added, leave them; else 64."""
    import numpy as np

    x, constants = site.input(0), [site.constant(index) for index in range(1, len(site.inputs))]
    if x.dtype not in (DType.I8, DType.U8) or any(array is None for array in constants):
        return 64
    w, *added = (int(np.abs(np.asarray(array, np.int64)).max(initial=0)) for array in constants)
    largest = max(_BYTE * _BYTE * x.shape[-1] + 1, _BYTE * w + sum(added))
    return 32 if largest < 2**31 else 64


def _operator(name: str, op_type: str, summary: str, *operands: str) -> Operator:
    return Operator(
        name=name,
        inputs=("X", *operands),
        outputs=("Y",),
        summary=summary,
        infer=like_x(),
        reference=_norm,
        access=lambda site: rows(site, operands),
        imports=(signature(op_type, " ".join(_WORDS), taken_as(name, *_WORDS), inputs=1 + len(operands)),),
    )


def _kernel(op: str, *operands: str) -> Kernel:
    handed = "".join(f"${{{name}}}, ${{{name.lower()}_step}}, " for name in operands)
    results = '${Y}${at["Y"]}, ${y_step}, ${numbers}'
    return Kernel(
        name=op.lower(),
        op=op,
        match=not_integers,
        parallel=("*",),
        in_place=lambda site: (("X", "Y"),) if site.input(0).dtype is site.output.dtype else (),
        values=_values,
        source=source("integer_norm.c.mako"),
        call=NEST + f'${{function}}(${{count}}, ${{X}}${{at["X"]}}, ${{x_step}}, {handed}{results});',
    )


OPERATORS = (
    _operator("integer.LayerNorm", "iLayerNorm", "rows without their mean over the root of their variance", "W", "B"),
    _operator("integer.RMSNorm", "iRMSNorm", "rows over the root of their mean square", "W"),
)
KERNELS = (_kernel("integer.LayerNorm", "W", "B"), _kernel("integer.RMSNorm", "W"))
