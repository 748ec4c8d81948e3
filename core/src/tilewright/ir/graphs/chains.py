"""Knows chains: nodes one after the other that are computed as one step, and the operator that such a node is of. Does
not know any operator, nor which kernels compute chains.

The operator of a chain is made of those of its nodes. Its operands are all of theirs, one node after the other; those
of later nodes have the operator before their names (`add_B`), and what a node reads of the one before is absent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tilewright.ir.access.composition import composed
from tilewright.ir.access.index_map import Access, MapAccess
from tilewright.ir.graphs.carried_errors import carried, carries
from tilewright.ir.graphs.evaluation import allowed, results
from tilewright.ir.graphs.graph import Link, Node, Site, Tensor
from tilewright.ir.graphs.operator import Operator, input_names

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]


def no_chain(operators: Sequence[Operator]) -> str:
    """Why nodes of these operators are no chain; empty where they may be one."""
    variadic = next((operator.name for operator in operators if "..." in operator.inputs), "")
    return f"{variadic} has any number of inputs, which no chain has" if variadic else ""


def chain_operator(operators: Sequence[Operator]) -> Operator:
    """The operator of nodes of these, first to last. ValueError where `no_chain` has a reason."""
    if reason := no_chain(operators):
        raise ValueError(reason)
    chain = _Chain(operators)
    return Operator(
        name="+".join(operator.name for operator in operators),
        inputs=tuple(name for names in chain.inputs for name in names),
        outputs=chain.outputs,
        infer=lambda site: operators[-1].infer(site.members()[-1]),
        reference=chain.reference,
        access=chain.access,
        tolerance=chain.tolerance if any(operator.tolerance for operator in operators) else None,
        macs=lambda site: sum(
            operator.macs(member) for operator, member in zip(operators, site.members(), strict=True)
        ),
        members=tuple(operators),
        summary=" and ".join(operator.name for operator in operators) + ", one after the other as one step",
    )


def chain_node(nodes: Sequence[Node], tensors: Mapping[str, Tensor], operators: Mapping[str, Operator]) -> Node:
    """The node that computes `nodes`, each of which reads the only output of the one before, once.

    ValueError, with the reason, where they are no chain.
    """
    inputs: list[str] = []
    for before, node in zip((None, *nodes), nodes, strict=False):
        inner = before.outputs[0] if before is not None else ""
        if before is not None and node.inputs.count(inner) != 1:
            raise ValueError(f"'{node.name}' reads '{inner}' {node.inputs.count(inner)} times")
        padded = (*node.inputs, *[""] * (len(operators[node.op].inputs) - len(node.inputs)))
        inputs += ["" if name == inner else name for name in padded]
    return Node(
        name=nodes[-1].name,
        op="+".join(node.op for node in nodes),
        inputs=tuple(inputs),
        outputs=nodes[-1].outputs,
        attributes=_rounding(nodes),
        origin=tuple(dict.fromkeys(name for node in nodes for name in node.origin)),
        links=tuple(Link(node=node, output=tensors[node.outputs[0]]) for node in nodes),
    )


def rewired(chain: Node, operator: Operator, tensors: Mapping[str, Tensor]) -> Node:
    """`chain`, whose inputs and outputs were renamed, with nodes that read and write those."""
    links, at = list[Link](), 0
    for link, member in zip(chain.links, operator.members, strict=True):
        own = chain.inputs[at : at + len(link.node.inputs)]
        names = tuple(new or old for new, old in zip(own, link.node.inputs, strict=True))
        links.append(replace(link, node=replace(link.node, inputs=names)))
        at += len(member.inputs)
    last = replace(links[-1].node, outputs=chain.outputs)
    links[-1] = Link(node=last, output=tensors[chain.outputs[0]])
    return replace(chain, links=tuple(links))


def unproved(site: Site, operators: Mapping[str, Operator]) -> str:
    """Why nothing can be said about results of the chain `site`: errors of floats that an operator after them does not
    carry. Empty where it can.
    """
    rounds = False
    for member in site.members():
        operator = operators[member.node.op]
        if rounds and not carries(operator, member, {_inner(site, member)}):
            return f"nothing is proved of {operator.name} where what it reads is rounded otherwise"
        rounds = rounds or operator.tolerance is not None
    return ""


def _rounding(nodes: Sequence[Node]) -> dict[str, str]:
    """What the chain rounds like: one arithmetic, or `onnx`."""
    named = {node.rounding for node in nodes if {"requant", "rounding"}.intersection(node.attributes)}
    if len(named) > 1:
        raise ValueError(f"its nodes round as {' and '.join(sorted(named))} do")
    return {"rounding": named.pop()} if named else {}


def _inner(site: Site, member: Site) -> int:
    """Which input of a later node of the chain is what the one before writes."""
    present = {tensor.name for tensor in site.inputs if tensor is not None}
    return next(at for at, tensor in enumerate(member.inputs) if tensor is not None and tensor.name not in present)


class _Chain:
    """What the operator of a chain is made of."""

    def __init__(self, operators: Sequence[Operator]) -> None:
        self._operators = tuple(operators)
        prefixes = [""]
        for at, operator in enumerate(operators[1:], 1):
            again = any(earlier.name == operator.name for earlier in operators[:at])
            prefixes.append(f"{operator.name.lower()}{at if again else ''}_")
        self._prefixes = tuple(prefixes)
        self.inputs = tuple(
            tuple(prefix + name for name in operator.inputs)
            for prefix, operator in zip(prefixes, operators, strict=True)
        )
        self.outputs = tuple(prefixes[-1] + name for name in operators[-1].outputs)

    def reference(self, site: Site, arrays: Sequence[Array | None]) -> tuple[Array, ...]:
        """One node's reference after the other's."""
        result: tuple[Array, ...] = ()
        for operator, member, own in self._steps(site, arrays):
            result = results(operator, member, _given(member, own, result))
        return result

    def tolerance(self, site: Site, arrays: Sequence[Array | None]) -> tuple[Array | None, ...]:
        """How far each node may be off, and how far what those before it are off takes it. Infinite where that is not
        known.
        """
        import numpy as np

        result: tuple[Array, ...] = ()
        limits: Sequence[Array | None] = ()
        for operator, member, own in self._steps(site, arrays):
            inputs_here = _given(member, own, result)
            off = {
                at: np.asarray(limits[0], np.float64)
                for at, (tensor, array) in enumerate(zip(member.inputs, own, strict=True))
                if tensor is not None and array is None and limits and limits[0] is not None
            }
            result = results(operator, member, inputs_here)
            if not any(limit.any() for limit in off.values()):
                limits = allowed(operator, member, inputs_here)
                continue
            far = carried(operator, member, inputs_here, result, off)
            limits = far if far is not None else [np.full((), np.inf)] * len(result)
        return tuple(limit if limit is None else np.nan_to_num(limit, nan=np.inf, posinf=np.inf) for limit in limits)

    def access(self, site: Site) -> Access:
        """The index map of all together. ValueError where there is none."""
        after: MapAccess | None = None
        parts = zip(self._operators, self._prefixes, site.members(), strict=True)
        for operator, prefix, member in parts:
            access = operator.access(member)
            if not isinstance(access, MapAccess):
                raise ValueError(f"what {operator.name} reads here is no index map")
            names = {name: prefix + name for name in (*access.inputs, *access.outputs)}
            if after is None:
                after = access
                continue
            after = composed(after, access, input_names(operator, member)[_inner(site, member)], names)
        assert after is not None
        return after

    def _steps(self, site: Site, arrays: Sequence[Array | None]) -> list[tuple[Operator, Site, Sequence[Array | None]]]:
        """Every node with those arrays of the chain that are its own."""
        steps = []
        at = 0
        for operator, member in zip(self._operators, site.members(), strict=True):
            steps.append((operator, member, arrays[at : at + len(member.inputs)]))
            at += len(operator.inputs)
        return steps


def _given(member: Site, own: Sequence[Array | None], result: tuple[Array, ...]) -> list[Array | None]:
    """The arrays of a node: its own, and what the one before has found where it reads that."""
    return [
        result[0] if array is None and tensor is not None else array
        for array, tensor in zip(own, member.inputs, strict=True)
    ]
