"""Knows a kernel of values in forms of their own as one of the operator of such nodes: it is asked about the node as
the network has it, and called with operands as they are stored. Does not know which nodes are computed so (`bind`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from functools import wraps
from typing import Any, TypeVar

from tilewright.errors import plugin_error
from tilewright.ir.graphs.graph import Node, Site, Tensor
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.graphs.stored_sites import SUFFIX, logical_site, stored_attributes, stored_operands, stored_tensor
from tilewright.ir.machines.kernel import Call, Kernel, Matched, TileShape
from tilewright.ir.plugin_contract import demand_mapping, place_of
from tilewright.ir.tensors.layout import Layout, row_major
from tilewright.ir.tensors.stored_form import Stored, StoredValue

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredKernel(Kernel):
    """`base`, which its author wrote, as a kernel of `OPERATOR@stored`."""

    base: Kernel
    of: Operator  # what `base` computes


def storing(kernel: Kernel, operator: Operator) -> Kernel:
    """`kernel` as it is offered: one with `stored` computes nodes of `operator`'s own kind."""
    if not kernel.stores or isinstance(kernel, StoredKernel):
        return kernel
    same = {each.name: getattr(kernel, each.name) for each in fields(kernel)}
    return StoredKernel(base=kernel, of=operator, **{**same, **_Asking(kernel, operator).functions()})


def stored_forms(kernel: Kernel, operator: Operator, site: Matched) -> dict[str, StoredValue]:
    """What `kernel` stores how of a node as the network has it. TilewrightError TW5080 for forms that values cannot
    have.
    """
    answer = demand_mapping(kernel.stored(site), f"kernel '{kernel.name}'", kernel.stored, "stored")
    tensors = _by_operand(operator, site)
    forms = {}
    for operand, stored in answer.items():
        tensor = tensors.get(operand)
        if tensor is None and operand in operator.inputs:
            continue  # optional, and absent
        if fault := _fault(operand, stored, tensor, site):
            raise _no_form(kernel, operator, operand, fault)
        assert tensor is not None, "a fault otherwise"
        forms[operand] = StoredValue(stored=stored, shape=tensor.shape)
    return forms


def stored_site(site: Site, operator: Operator, stored: Mapping[str, StoredValue]) -> Site:
    """The node that computes `site` on values in these forms, under the names that they have."""
    inputs = zip(operator.inputs, site.inputs, strict=False)
    outputs = zip(operator.outputs, site.outputs, strict=False)
    return Site(
        node=stored_node(site.node, stored),
        inputs=tuple(None if tensor is None else _as_stored(tensor, stored.get(name)) for name, tensor in inputs),
        outputs=tuple(_as_stored(tensor, stored.get(name)) for name, tensor in outputs),
        constants=site.constants,
    )


def stored_node(node: Node, stored: Mapping[str, StoredValue]) -> Node:
    """`node` on values in these forms."""
    return replace(node, op=node.op + SUFFIX, attributes={**node.attributes, **stored_attributes(stored)})


def _as_stored(tensor: Tensor, value: StoredValue | None) -> Tensor:
    return tensor if value is None else stored_tensor(tensor, value, tensor.name)


class _Asking:
    """The functions of a kernel, asked about nodes as the network has them."""

    def __init__(self, kernel: Kernel, operator: Operator) -> None:
        self._kernel, self._operator = kernel, operator

    def functions(self) -> dict[str, Any]:
        """All that a kernel of values in forms does otherwise."""
        kernel = self._kernel
        of_site = ("attributes", "prefers", "pack", "more_constants", "in_place", "stays", "accumulates", "describe")
        of_tile = ("scratch_bytes", "cycles", "instructions", "stack_reads")
        return {
            **{name: self._of_site(getattr(kernel, name)) for name in of_site},
            **{name: self._of_tile(getattr(kernel, name)) for name in of_tile if getattr(kernel, name) is not None},
            "op": kernel.op + SUFFIX,
            "match": self.match,
            "requires": self._requires,
            "access": self._of_site(kernel.access) if callable(kernel.access) else kernel.access,
            "values": self._values,
            "finish": kernel.finish and replace(kernel.finish, cycles=self._of_tile(kernel.finish.cycles)),
        }

    def match(self, site: Site) -> object:
        """What the kernel answers, where the node has the forms that it wants."""
        logical = logical_site(site, self._operator)
        answer = self._kernel.match(logical)
        if isinstance(answer, str) or answer is False:
            return answer
        wanted = stored_forms(self._kernel, self._operator, Matched.of(logical, answer))
        return answer if wanted == stored_operands(site.node) else "stores operands in other forms"

    def _requires(self, site: Matched) -> Mapping[str, Layout]:
        tensors = _by_operand(self._operator, site)
        plain = {
            operand: row_major(len(tensor.shape))
            for operand in stored_operands(site.node)
            if (tensor := tensors[operand]) is not None
        }
        return {**plain, **self._kernel.requires(self._logical(site))}

    def _values(self, call: Call) -> Mapping[str, object]:
        return self._kernel.values(replace(call, site=self._logical(call.site)))

    def _logical(self, site: Matched) -> Matched:
        return Matched.of(logical_site(site, self._operator), site.analysis)

    def _of_site(self, function: Callable[[Matched], Answer]) -> Callable[[Matched], Answer]:
        @wraps(function)
        def ask(site: Matched) -> Answer:
            return function(self._logical(site))

        return ask

    def _of_tile(self, function: Callable[[TileShape], Answer]) -> Callable[[TileShape], Answer]:
        @wraps(function)
        def ask(tile: TileShape) -> Answer:
            return function(replace(tile, site=self._logical(tile.site)))

        return ask


def _by_operand(operator: Operator, site: Site) -> dict[str, Tensor | None]:
    inputs = dict(zip(operator.inputs, site.inputs, strict=False))
    return {**inputs, **dict(zip(operator.outputs, site.outputs, strict=False))}


def _fault(operand: str, stored: object, tensor: Tensor | None, site: Site) -> str:
    if tensor is None:
        return f"there is no operand {operand}"
    if not isinstance(stored, Stored):
        return f"{stored!r} is no Stored(form=..., fill=...)"
    if tensor.name in site.constants:
        return "it is a constant, which `pack` stores"
    if fault := stored.form.fault(tensor.shape):
        return f"[{', '.join(map(str, tensor.shape))}] has no form '{stored.form}': {fault}"
    limits = tensor.dtype.limits if tensor.dtype.is_integer else None
    if stored.fill is None or limits is None or limits[0] <= stored.fill <= limits[1]:
        return ""
    return f"{stored.fill} is no {tensor.dtype.value}, and padding cannot hold it"


def _no_form(kernel: Kernel, operator: Operator, operand: str, reason: str) -> Exception:
    return plugin_error(
        "TW5080",
        f"kernel '{kernel.name}' stores {operand} of {operator.name} in a form that it cannot have: {reason}",
        where=place_of(kernel.stored),
        fix=("let `match` refuse such layers, or correct `stored`; if the kernel is not yours, tell its author",),
    )
