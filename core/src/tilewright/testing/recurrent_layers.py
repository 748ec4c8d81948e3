"""Knows layers of LSTM, GRU and RNN for tests: more sequences than fit at once, and what is optional in turns.
Does not know how they are tiled or run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from tilewright.ir.graphs.graph import Attribute
from tilewright.testing.layer_sample import Sample

if TYPE_CHECKING:
    import numpy.typing as npt

_GATES = MappingProxyType({"LSTM": 4, "GRU": 3, "RNN": 1})
_DEFAULTS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"LSTM": ("Sigmoid", "Tanh", "Tanh"), "GRU": ("Sigmoid", "Tanh"), "RNN": ("Tanh",)}
)


def recurrent_layers(numbers: np.random.Generator) -> Iterator[Sample]:
    """Plain ones, and ones with everything that is optional."""
    for name in _GATES:
        yield recurrent_layer(numbers, name, optional=False)
        yield recurrent_layer(numbers, name, optional=True)
    yield recurrent_layer(numbers, "GRU", optional=True, inside=True)


def recurrent_layer(
    numbers: np.random.Generator,
    name: str,
    *,
    optional: bool,
    inside: bool = False,
    shape: tuple[int, int, int] = (7, 11, 5),
    **attributes: Attribute,
) -> Sample:
    """One of steps, sequences and units; `inside`: a GRU's bias is inside its reset."""
    steps, batches, hidden = shape
    gates = _GATES[name] * hidden

    def floats(*extents: int) -> npt.NDArray[np.float32]:
        return numbers.standard_normal(extents).astype(np.float32)

    lengths = numbers.integers(0, steps + 1, batches).astype(np.int32)
    extra = (
        floats(hidden) if inside else None,
        floats(3 * hidden) if name == "LSTM" else None,
        lengths,
        floats(batches, hidden),
        floats(batches, hidden) if name == "LSTM" else None,
    )
    functions = _DEFAULTS[name]
    chosen: dict[str, Attribute] = {
        "activations": functions,
        "alphas": (0.0,) * len(functions),
        "betas": (0.0,) * len(functions),
        "reverse": int(optional),
        **({"clip": 1.5} if optional else {}),
        **({"linear_before_reset": int(inside)} if name == "GRU" else {}),
        **attributes,
    }
    kind = ("bias inside" if inside else "everything") if optional else ""
    inputs = (floats(steps, batches, gates), floats(gates, hidden), *(extra if optional else ()))
    return Sample(op=f"{name}Steps", kind=kind, inputs=inputs, attributes=chosen, constants=(1,))
