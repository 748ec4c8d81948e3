"""Knows the passes that give every integer layer the function of an arithmetic: first what the file means, then what
was asked for instead. Does not know what any arithmetic computes.
"""

from __future__ import annotations

from collections.abc import Mapping

from tilewright.errors import Diagnostic
from tilewright.ir.graphs.arithmetic import ArithmeticChoice
from tilewright.ir.graphs.graph import Attribute, Graph, Node
from tilewright.ir.graphs.operator import GraphPass, PassContext, PassResult
from tilewright.operators.arithmetics.known import ARITHMETICS
from tilewright.operators.arithmetics.onnx import ONNX
from tilewright.rewrite.edit import Draft, with_attributes

FILE_MEANS = ArithmeticChoice(known=ARITHMETICS)
_LAYERS = tuple(sorted({op for op, _ in ONNX.functions}))
_SHOWN = 8  # layers of one reason


def _settle(graph: Graph, context: PassContext) -> PassResult:
    """Every integer layer computes what the file means; one whose scales nobody knows keeps what its importer wrote."""
    choice = context.arithmetic or FILE_MEANS
    draft, own = Draft(graph=graph), choice.known[choice.own]
    for node in filter(is_integer_layer, graph.nodes):
        answer = own.declared(graph.site(node))
        if not isinstance(answer, str):
            _declare(draft, node, answer)
    return PassResult(graph=draft.finish())


def _ask(graph: Graph, context: PassContext) -> PassResult:
    """Layers compute what was asked for, where that is not what the file means and has a function for them."""
    choice = context.arithmetic or FILE_MEANS
    draft, kept = Draft(graph=graph), dict[str, list[str]]()
    computed: dict[str, int] = {}  # arithmetic -> layers
    for node in filter(is_integer_layer, graph.nodes):
        arithmetic = choice.of(node)
        if arithmetic.name == choice.own:
            continue
        answer = arithmetic.declared(graph.site(node))
        if isinstance(answer, str):
            kept.setdefault(answer, []).append(node.name)
        else:
            computed[arithmetic.name] = computed.get(arithmetic.name, 0) + 1
            _declare(draft, node, answer)
    return PassResult(graph=draft.finish(), diagnostics=(*_told(computed, choice.own), *_kept(kept, choice.own)))


def is_integer_layer(node: Node) -> bool:
    """Whether an arithmetic has a say in what the node computes."""
    return ONNX.knows(node.op)


def _declare(draft: Draft, node: Node, answer: Mapping[str, Attribute]) -> None:
    """The attributes that differ; a node that names no rounding has that of `onnx`."""
    known = {**node.attributes, "rounding": node.rounding}
    changes = {name: value for name, value in answer.items() if known.get(name) != value}
    if changes:
        draft.replace(node, with_attributes(node, changes))


def _told(computed: Mapping[str, int], own: str) -> tuple[Diagnostic, ...]:
    """One warning TW3007 for each arithmetic that is not the file's: what `--strict` refuses."""
    return tuple(
        Diagnostic(
            code="TW3007",
            severity="warning",
            message=f"{_compute(layers)} '{name}' where the file means '{own}': results may differ",
            where="--arithmetic",
            fix=(
                f"leave it out, for what the file means ('{own}')",
                "or let `tilewright validate` say by how much they differ",
            ),
        )
        for name, layers in computed.items()
    )


def _kept(kept: Mapping[str, list[str]], own: str) -> tuple[Diagnostic, ...]:
    """One warning TW3006 for each reason why layers compute what the file means after all."""
    return tuple(
        Diagnostic(
            code="TW3006",
            severity="warning",
            message=f"{_compute(len(names))} '{own}', not what was asked for: {reason}",
            where=", ".join(names[:_SHOWN]) + (", ..." if len(names) > _SHOWN else ""),
            fix=("accept it: these layers compute what the file means",),
        )
        for reason, names in kept.items()
    )


def _compute(layers: int) -> str:
    return "1 integer layer computes" if layers == 1 else f"{layers} integer layers compute"


SETTLE_ARITHMETIC = GraphPass(
    name="settle-arithmetic",
    summary="integer layers compute what the file means, exactly over the scales that it stores",
    apply=_settle,
    roots=_LAYERS,
    after=("lower-quantised",),
    before=("merge-lookups", "remove-dead-channels"),
)
DECLARE_ARITHMETIC = GraphPass(
    name="declare-arithmetic",
    summary="integer layers compute the arithmetic that was asked for",
    apply=_ask,
    roots=_LAYERS,
    after=("settle-arithmetic",),
    before=("merge-lookups", "remove-dead-channels"),
    lossy=True,
)
