"""Knows how a kernel's operands relate to a node's tensors and packed constants.
Does not know where any of them is stored.
"""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.access import Access, parse_map
from tilewright.graph import Site
from tilewright.kernel import Kernel
from tilewright.operator import Operator


@dataclass(frozen=True, slots=True, kw_only=True)
class OperandSource:
    """Where an input operand comes from: a tensor of the graph, or, with `tensor` empty, a packed constant."""

    operand: str
    tensor: str


def input_names(operator: Operator, site: Site) -> tuple[str, ...]:
    """Operand names of the node's inputs; a trailing "..." is spelled out as X0, X1, ... ."""
    if operator.inputs[-1:] == ("...",):
        return tuple(f"{operator.inputs[-2]}{index}" for index in range(len(site.inputs)))
    return operator.inputs[: len(site.inputs)]


def input_operands(operator: Operator, kernel: Kernel, site: Site) -> tuple[OperandSource, ...]:
    """The kernel's input operands, tensors first. A kernel that packs any constant packs all it needs."""
    packed = tuple(kernel.pack(site))
    tensors = tuple(
        OperandSource(operand=operand, tensor=tensor.name)
        for operand, tensor in zip(input_names(operator, site), site.inputs, strict=True)
        if tensor is not None and not (packed and tensor.name in site.constants)
    )
    return (*tensors, *(OperandSource(operand=operand, tensor="") for operand in packed))


def kernel_access(operator: Operator, kernel: Kernel, site: Site) -> Access:
    """The kernel's own access over its packed operands, or the operator's where it has none."""
    if kernel.access is None:
        return operator.access(site)
    if not isinstance(kernel.access, str):
        return kernel.access(site)
    shapes: dict[str, tuple[int, ...]] = dict(
        zip(operator.outputs, (tensor.shape for tensor in site.outputs), strict=False)
    )
    types = {tensor.name: tensor.shape for tensor in site.inputs if tensor is not None}
    packed = kernel.pack(site)
    for source in input_operands(operator, kernel, site):
        shapes[source.operand] = types[source.tensor] if source.tensor else tuple(packed[source.operand].shape)
    return parse_map(kernel.access).bind(shapes, kernel.attributes(site))
