"""Knows how to run graph passes: in a stable order that respects after/before, the graph verified after each.
Does not know any pass.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from tilewright.errors import Diagnostic, Exit, TilewrightError
from tilewright.ir.graphs.arithmetic import ArithmeticChoice
from tilewright.ir.graphs.graph import Graph, Node
from tilewright.ir.graphs.operator import GraphPass, Operator, PassContext, PassResult, Target
from tilewright.ir.log_span import DEBUG, INFO, log_span, with_log_span
from tilewright.ir.plugin_contract import demand_type

_NOBODY: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class PassRecord:
    """What one pass did, nodes by name. `graph` is the graph after it, for `--dump-after`."""

    name: str
    removed: tuple[str, ...]
    added: tuple[str, ...]
    changed: tuple[str, ...]  # same name before and after, another node
    graph: Graph
    lossy: bool = False  # whether the pass may change what is computed

    @property
    def idle(self) -> bool:
        """Whether the pass left every node as it was."""
        return not (self.removed or self.added or self.changed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewritten:
    """The graph after all passes, what the user should know, and which pass changed what, in order."""

    graph: Graph
    diagnostics: tuple[Diagnostic, ...]
    trail: tuple[PassRecord, ...]


@with_log_span(INFO, "rewrite: graph passes")
def rewrite(
    graph: Graph,
    operators: Mapping[str, Operator],
    passes: Sequence[GraphPass],
    platform: Target | None = None,
    arithmetic: ArithmeticChoice | None = None,
    owners: Mapping[str, str] = _NOBODY,
) -> Rewritten:
    """Run `passes` in the order of `ordered`; what they see of `platform` and `arithmetic`: `PassContext`. `owners` has
    the package of each, with its version, by the name of the pass.

    TW9021 when a pass returns a broken graph, declares a type that the operators' shape rules contradict, or
    touches the graph's inputs or outputs; TW9022 and TW9023 when the passes cannot be ordered.
    """
    context = PassContext(operators=operators, platform=platform, arithmetic=arithmetic)
    diagnostics: list[Diagnostic] = []
    trail: list[PassRecord] = []
    for graph_pass in ordered(passes):
        if graph_pass.roots and not any(node.op in graph_pass.roots for node in graph.nodes):
            trail.append(_record(graph_pass, graph, graph))
            continue
        with log_span(DEBUG, "graph pass '%s'", graph_pass.name):
            answer = graph_pass.apply(graph, context)
        result = demand_type(answer, PassResult, f"graph pass '{graph_pass.name}'", graph_pass.apply, "apply")
        if result.graph is not graph:
            _check(graph, result.graph, operators, graph_pass.name, owners.get(graph_pass.name, ""))
        trail.append(_record(graph_pass, graph, result.graph))
        diagnostics.extend(result.diagnostics)
        graph = result.graph
    return Rewritten(graph=graph, diagnostics=tuple(diagnostics), trail=tuple(trail))


def ordered(passes: Sequence[GraphPass]) -> tuple[GraphPass, ...]:
    """The passes so that every `after` and `before` holds; otherwise in the order given.

    A name that is not among the passes puts no demand. TW9022 for two passes of one name, TW9023 for a cycle.
    """
    by_name = {graph_pass.name: graph_pass for graph_pass in passes}
    if len(by_name) != len(passes):
        names = [graph_pass.name for graph_pass in passes]
        twice = next(name for name in names if names.count(name) > 1)
        raise _order_error("TW9022", f"two graph passes are named {twice!r}", "rename one, or uninstall its plugin")
    waits = {
        name: {other for other in graph_pass.after if other in by_name}
        | {other.name for other in passes if name in other.before}
        for name, graph_pass in by_name.items()
    }
    done: list[GraphPass] = []
    while waits:
        ready = next((name for name in waits if not waits[name].intersection(waits)), None)
        if ready is None:
            cycle = ", ".join(sorted(waits))
            raise _order_error("TW9023", f"graph passes wait for each other: {cycle}", "remove an after= or before=")
        del waits[ready]
        done.append(by_name[ready])
    return tuple(done)


def _order_error(code: str, message: str, fix: str) -> TilewrightError:
    return TilewrightError(code, message, where="graph passes", fix=(fix,), exit_code=Exit.PLUGIN)


def _check(before: Graph, after: Graph, operators: Mapping[str, Operator], pass_name: str, owner: str) -> None:
    """Raise TW9021 with the first contradiction that the pass's graph holds."""
    lie = _interface_change(before, after)
    if lie is None:
        try:
            after.verify()
        except (ValueError, KeyError) as broken:
            lie = f"the graph is broken: {broken}"
    if lie is None:
        lies = (_type_error(after, node, operators) for node in after.nodes)
        lie = next((message for message in lies if message is not None), None)
    if lie is not None:
        raise TilewrightError(
            "TW9021",
            f"graph pass '{pass_name}'{f' of {owner}' if owner else ''} returned a graph that is wrong",
            where=pass_name,
            details=(lie,),
            fix=(f"report this to the author of {owner or 'the pass'}, with the model",),
            exit_code=Exit.PLUGIN,
        )


def _interface_change(before: Graph, after: Graph) -> str | None:
    if (before.inputs, before.outputs) != (after.inputs, after.outputs):
        return "the graph's inputs or outputs have other names"
    for name in (*before.inputs, *before.outputs):
        old, new = before.tensors[name], after.tensors.get(name)
        if new is None or (old.dtype, old.shape) != (new.dtype, new.shape):
            return f"graph input or output {name!r} was {old}, is now {new}"
    return None


def _type_error(graph: Graph, node: Node, operators: Mapping[str, Operator]) -> str | None:
    operator = operators.get(node.op)
    if operator is None:
        return f"node {node.name!r} is of operator {node.op!r}, which the vocabulary does not have"
    site = graph.site(node)
    inferred = operator.infer(site)
    if len(inferred) != len(site.outputs):
        return f"node {node.name!r} has {len(site.outputs)} outputs, {node.op} has {len(inferred)}"
    for declared, true in zip(site.outputs, inferred, strict=True):
        if (declared.dtype, declared.shape) != (true.dtype, true.shape):
            actual = f"{declared.dtype.value}{list(declared.shape)}"
            return f"{declared.name!r} is declared {actual}, {node.op} makes {true.dtype.value}{list(true.shape)}"
    return None


def _record(graph_pass: GraphPass, before: Graph, after: Graph) -> PassRecord:
    old = {node.name: node for node in before.nodes}
    new = {node.name: node for node in after.nodes}
    return PassRecord(
        name=graph_pass.name,
        lossy=graph_pass.lossy,
        removed=tuple(node for node in old if node not in new),
        added=tuple(node for node in new if node not in old),
        changed=tuple(node for node in new if node in old and new[node] != old[node]),
        graph=after,
    )
