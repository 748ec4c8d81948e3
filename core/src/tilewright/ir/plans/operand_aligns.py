"""Knows at which multiples values and constants have to begin because of the kernels that read or write them, and of
the copies that move them.
Does not know where anything is placed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tilewright.ir.graphs.operator import Operator, input_names
from tilewright.ir.machines.routes import copy_grain
from tilewright.ir.plans.stages import Bound


def aligns_of(bound: Bound, operators: Mapping[str, Operator]) -> Mapping[str, int]:
    """By value and stored constant the bytes that its address is a multiple of; absent where nobody wants any.

    All of them are powers of two, so that the largest is a multiple of every other.
    """
    grain = copy_grain(bound.platform)
    result = dict.fromkeys((*bound.layouts, *bound.constants), grain) if grain > 1 else dict[str, int]()
    for name, align in _wanted(bound, operators):
        result[name] = max(align, result.get(name, 1))
    return result


def _wanted(bound: Bound, operators: Mapping[str, Operator]) -> Iterator[tuple[str, int]]:
    for node in bound.graph.nodes:
        binding = bound.bindings.get(node.name)
        if binding is None or not binding.kernel.align:
            continue
        site, operator, wanted = bound.graph.site(node), operators[node.op], binding.kernel.align
        inputs = zip(input_names(operator, site), site.inputs, strict=True)
        outputs = zip(operator.outputs, site.outputs, strict=False)
        values = {operand: tensor.name for operand, tensor in (*inputs, *outputs) if tensor is not None}
        for operand, name in {**values, **binding.constants}.items():
            if operand in wanted:
                yield name, wanted[operand]
