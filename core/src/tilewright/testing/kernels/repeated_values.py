"""Knows layers in which two operands are one value, as in x * x, made of layers whose operands are two.
Does not know how kernels are run on them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

from tilewright.ir.graphs.evaluation import results
from tilewright.ir.graphs.graph import Site, Tensor
from tilewright.ir.graphs.operator import Operator, input_names
from tilewright.ir.plans.layer import Layer
from tilewright.ir.tensors.layout import Layout

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatedValue:
    """A layer of which two operands are one value."""

    operands: tuple[str, str]
    site: Site
    inputs: tuple[Array | None, ...]


def repeated_values(operator: Operator, site: Site, inputs: Sequence[Array | None]) -> Iterator[RepeatedValue]:
    """For each two inputs of one type, computed both, the layer in which one value is both: the first, the second, or
    the square part of one of these, whichever the operator takes. Chains, and layers in forms of a kernel's own, have
    none.
    """
    if site.node.links or operator.members:
        return
    names = input_names(operator, site)
    computed = [at for at, tensor in enumerate(site.inputs) if tensor is not None and tensor.name not in site.constants]
    for first, second in combinations(computed, 2):
        for array in _candidates(inputs[first], inputs[second]):
            made = _repeated(operator, site, inputs, (first, second), array)
            if made is not None:
                yield RepeatedValue(operands=(names[first], names[second]), site=made[0], inputs=made[1])
                break


def shared_layouts(layer: Layer, operands: tuple[str, str]) -> Mapping[str, Layout] | None:
    """The layouts that a kernel wants, one for both operands; None where it takes them only in two."""
    first, second = operands
    demanded = [layer.required[name] for name in operands if name in layer.required]
    if len({*demanded}) > 1:
        return None
    layouts = {**layer.preferred, **layer.required}
    chosen = demanded[0] if demanded else layouts.get(first, layouts.get(second))
    others = {name: layout for name, layout in layouts.items() if name not in operands}
    return others if chosen is None else {**others, first: chosen, second: chosen}


def _candidates(first: Array | None, second: Array | None) -> Iterator[Array]:
    if first is None or second is None or first.dtype != second.dtype:
        return
    for array in (first, second):
        yield array
    for array in (first, second):
        if array.ndim > 1:
            extent = min(array.shape[-2:])
            yield array[..., :extent, :extent].copy()


def _repeated(
    operator: Operator, site: Site, inputs: Sequence[Array | None], both: tuple[int, int], array: Array
) -> tuple[Site, tuple[Array | None, ...]] | None:
    tensor = site.input(both[0])
    value = Tensor(name=tensor.name, dtype=tensor.dtype, shape=array.shape, quantization=tensor.quantization)
    names = tuple(tensor.name if at in both else name for at, name in enumerate(site.node.inputs))
    tensors = tuple(value if at in both else other for at, other in enumerate(site.inputs))
    arrays = tuple(array if at in both else other for at, other in enumerate(inputs))
    made = replace(site, node=replace(site.node, inputs=names), inputs=tensors)
    try:
        made = replace(made, outputs=operator.infer(made))
        results(operator, made, arrays)
    except Exception:  # whatever an operator answers to shapes that it does not take
        return None
    return made, arrays
