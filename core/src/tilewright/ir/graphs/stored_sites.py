"""Knows nodes whose values a kernel stores in a form of its own, with padding: the operator that such a node is of, and
the node as it is without. Does not know any kernel, nor where values are converted.

`QConv@stored` computes what QConv does, on tensors as they are stored; attributes say of which operand what is stored
(`stored.X`). Kernels are asked about the node without: its shapes are those of the network.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tilewright.ir.access.index_map import Access
from tilewright.ir.graphs.evaluation import allowed, results
from tilewright.ir.graphs.graph import Graph, Node, Site, Tensor
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.tensors.stored_form import StoredValue

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

SUFFIX = "@stored"
ATTRIBUTE = "stored."  # and an operand


def stored_operands(node: Node) -> dict[str, StoredValue]:
    """What is stored in which form, by operand."""
    return {
        name.removeprefix(ATTRIBUTE): value
        for name, value in node.attributes.items()
        if name.startswith(ATTRIBUTE) and isinstance(value, StoredValue)
    }


def stored_attributes(stored: Mapping[str, StoredValue]) -> dict[str, StoredValue]:
    """The attributes that say so."""
    return {ATTRIBUTE + operand: value for operand, value in stored.items()}


def stored_values(graph: Graph, operators: Mapping[str, Operator]) -> dict[str, StoredValue]:
    """By name every value of a bound graph that is stored in a form of its own, in the order of the nodes."""
    return {name: value for node in graph.nodes for name, value in written_stored(node, operators)}


def written_stored(node: Node, operators: Mapping[str, Operator]) -> Iterator[tuple[str, StoredValue]]:
    """Those that a node writes."""
    stored = stored_operands(node)
    pairs = zip(operators[node.op].outputs, node.outputs, strict=False) if stored else ()
    return ((name, stored[operand]) for operand, name in pairs if operand in stored)


def open_padding(node: Node, operator: Operator, outputs: Sequence[Tensor]) -> dict[str, npt.NDArray[np.bool_]]:
    """By operand that the node writes, where there may be anything."""
    stored = stored_operands(node)
    return {
        operand: stored[operand].padding(tensor.dtype.size_bytes)
        for operand, tensor in zip(operator.outputs, outputs, strict=False)
        if operand in stored and stored[operand].stored.fill is None
    }


def stored_tensor(tensor: Tensor, value: StoredValue, name: str) -> Tensor:
    """The type of what is stored of `tensor`."""
    shape = value.stored.form.shape(tensor.shape, tensor.dtype.size_bytes)
    return Tensor(name=name, dtype=tensor.dtype, shape=shape)


def logical_site(site: Site, operator: Operator) -> Site:
    """The node as it is without forms; `operator` is that of the node."""
    stored = stored_operands(site.node)
    attributes = {name: value for name, value in site.node.attributes.items() if not name.startswith(ATTRIBUTE)}
    return Site(
        node=replace(site.node, op=site.node.op.removesuffix(SUFFIX), attributes=attributes),
        inputs=tuple(
            None if tensor is None else _shaped(tensor, stored.get(name))
            for name, tensor in zip(operator.inputs, site.inputs, strict=False)
        ),
        outputs=tuple(
            _shaped(tensor, stored.get(name)) for name, tensor in zip(operator.outputs, site.outputs, strict=False)
        ),
        constants=site.constants,
    )


def stored_operator(base: Operator) -> Operator:
    """The operator of nodes that compute what `base` does on values in forms."""
    form = _Storing(base)
    return Operator(
        name=base.name + SUFFIX,
        inputs=base.inputs,
        outputs=base.outputs,
        infer=form.infer,
        reference=form.reference,
        access=form.access,
        tolerance=form.tolerance if base.tolerance is not None else None,
        macs=lambda site: base.macs(logical_site(site, base)),
        summary=f"{base.name} on values that a kernel stores in a form of its own",
    )


class _Storing:
    """What the operator is made of."""

    def __init__(self, base: Operator) -> None:
        self._base = base

    def infer(self, site: Site) -> tuple[Tensor, ...]:
        """As stored."""
        stored = stored_operands(site.node)
        tensors = self._base.infer(logical_site(site, self._base))
        pairs = zip(self._base.outputs, tensors, strict=False)
        return tuple(
            stored_tensor(tensor, stored[name], tensor.name) if name in stored else tensor for name, tensor in pairs
        )

    def access(self, site: Site) -> Access:
        """Every kernel has its own. ValueError otherwise."""
        raise ValueError(f"only a kernel knows what {site.node.op} reads: it says `access`")

    def reference(self, site: Site, arrays: Sequence[Array | None]) -> tuple[Array, ...]:
        """What `base` computes of the elements."""
        logical = logical_site(site, self._base)
        return self._put(site, results(self._base, logical, self._taken(site, arrays)))

    def tolerance(self, site: Site, arrays: Sequence[Array | None]) -> tuple[Array | None, ...]:
        """That of `base`; padding is exact."""
        logical = logical_site(site, self._base)
        stored = stored_operands(site.node)
        limits = allowed(self._base, logical, self._taken(site, arrays))
        pairs = zip(self._base.outputs, limits, logical.outputs, strict=False)
        return tuple(
            limit if limit is None or name not in stored else _spread(limit, stored[name], tensor)
            for name, limit, tensor in pairs
        )

    def _taken(self, site: Site, arrays: Sequence[Array | None]) -> list[Array | None]:
        stored = stored_operands(site.node)
        pairs = zip(self._base.inputs, arrays, strict=False)
        return [array if array is None or name not in stored else stored[name].take(array) for name, array in pairs]

    def _put(self, site: Site, arrays: Sequence[Array]) -> tuple[Array, ...]:
        stored = stored_operands(site.node)
        pairs = zip(self._base.outputs, arrays, strict=False)
        return tuple(stored[name].put(array) if name in stored else array for name, array in pairs)


def _spread(limit: Array, value: StoredValue, tensor: Tensor) -> Array:
    """Limits of elements, as they are stored."""
    import numpy as np

    whole = np.broadcast_to(np.asarray(limit, np.float64), tensor.shape)
    return value.stored.form.store(whole, 0.0, tensor.dtype.size_bytes)


def _shaped(tensor: Tensor, value: StoredValue | None) -> Tensor:
    return tensor if value is None else replace(tensor, shape=value.shape)
