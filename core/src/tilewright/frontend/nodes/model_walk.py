"""Knows the way through a model: bodies in order, calls of local functions, branches; loops are unrolled (`loops`).
Does not know how one node is imported (`conversion`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from tilewright.errors import Diagnostic, Exit, TilewrightError
from tilewright.frontend.nodes.builder import GraphBuilder
from tilewright.frontend.nodes.conversion import NodeImporter
from tilewright.frontend.nodes.functions import body_of, definition, function_key, is_defined
from tilewright.frontend.nodes.loops import Unroller
from tilewright.frontend.nodes.scope import AT_RUN_TIME, Scope, chosen_in
from tilewright.frontend.reading.file_model import FileFunction, FileGraph, FileNode, FunctionKey, reads
from tilewright.frontend.reading.names import show
from tilewright.frontend.reading.reader import too_many_nodes
from tilewright.frontend.reading.refusals import InvalidNode, RefusedAt, RefusedNode, invalid_node, shorten
from tilewright.frontend.reading.sorting import check_unique, label, sort_nodes
from tilewright.ir.graphs.model_formats import Limits

_CONTROL_FLOW = ("If", "Loop", "Scan")


class ModelWalk:
    """One pass over a model. Collects refusals and warnings; stops at the first rule that the file breaks."""

    def __init__(
        self,
        functions: Mapping[FunctionKey, FileFunction],
        builder: GraphBuilder,
        importer: NodeImporter,
        written: Callable[[str, str], None],
        limits: Limits,
    ) -> None:
        self._functions = functions
        self._builder = builder
        self._importer = importer
        self._limits = limits
        self._written = written  # called with each value of the main graph and what it is, as soon as that is known
        self._unroller = Unroller(builder, importer, limits, self._results)
        self.refused: list[RefusedAt] = []
        self.diagnostics: list[Diagnostic] = []
        self.nodes = 0

    def body(self, nodes: Sequence[FileNode], scope: Scope, outputs: Iterable[str]) -> None:
        """Import the nodes of a body whose inputs and initialisers are in `scope`."""
        outer = scope.outer
        order = sort_nodes(nodes, tuple(scope.values), outer.has if outer else lambda name: False)
        if order.moved is not None:
            self.diagnostics.append(_unsorted(order.moved))
        used = Counter(outputs)
        for node in order.nodes:
            used.update(reads(node))
        for node in order.nodes:
            self._node(node, scope, used)

    def _node(self, node: FileNode, scope: Scope, used: Mapping[str, int]) -> None:
        outputs = _used_outputs(node, used)
        values: Sequence[str | None] = (None,) * len(outputs)
        try:
            values = self._values(node, scope, outputs, used)
        except RefusedNode as refusal:
            self._refuse(node, scope, str(refusal))
        except InvalidNode as error:
            raise invalid_node(f"{node.op_type}: {error}", label(node)) from error
        except TilewrightError as error:
            if error.exit_code is not Exit.UNSUPPORTED:
                raise
            self._refuse(node, scope, error.message)
        for name, value in zip(outputs, values, strict=True):
            if name:
                scope.values[name] = value
            if name and value is not None and scope.main:
                self._written(name, value)

    def _values(
        self, node: FileNode, scope: Scope, outputs: tuple[str, ...], used: Mapping[str, int]
    ) -> Sequence[str | None]:
        """The values of a node's outputs; None for one that nothing reads, and where a node before was refused."""
        index = self.nodes
        self.nodes += 1
        if self.nodes > self._limits.nodes:  # ONNX's own definitions are not counted before
            raise too_many_nodes("inlined and unrolled the model has", self.nodes, self._limits.nodes)
        function = self._functions.get(function_key(node))
        defined = function is None and not self._importer.knows(node) and is_defined(node)
        if any(scope.find(name) is None for name in reads(node)):
            if function is None and not defined and not _is_control_flow(node):
                self._importer.check(node)
            return (None,) * len(outputs)
        names = self._builder.node_names
        wanted = scope.prefix + (node.name or f"{node.op_type}_{index}")
        name = names.claim(wanted) if node.name and scope.main else names.take(wanted)
        inputs = [(scope.find(each) or "") if each else "" for each in node.inputs]
        if defined:
            types = [self._builder.tensor(each) if each else None for each in inputs]
            function = definition(node, types, self._limits)
        if function is not None:
            return self._call(node, function, name, inputs)[: len(outputs)]
        if _is_control_flow(node):
            return self._control_flow(node, scope, name, inputs)[: len(outputs)]
        written = [self._name(scope, each, name) for each in outputs]
        unread = frozenset(own for own, each in zip(written, outputs, strict=True) if not (each and used[each]))
        return self._importer.run(node, name, inputs, written, unread)

    def _call(self, node: FileNode, function: FileFunction, name: str, inputs: Sequence[str]) -> list[str | None]:
        if len(inputs) > len(function.inputs) or len(node.outputs) > len(function.outputs):
            raise InvalidNode("it has more inputs or outputs than the local function it calls")
        check_unique(function.inputs, f"input of function {show(function.name)}:")
        scope = Scope(prefix=f"{name}/")
        scope.values.update(dict.fromkeys(function.inputs, ""))
        scope.values.update(zip(function.inputs, inputs, strict=False))
        wanted = [own for own, name in zip(function.outputs, node.outputs, strict=False) if name]
        self.body(body_of(node, function), scope, wanted)
        results = dict(zip(wanted, scope.results(wanted), strict=True))
        return [results.get(name) for name in function.outputs]

    def _control_flow(self, node: FileNode, scope: Scope, name: str, inputs: Sequence[str]) -> list[str | None]:
        """The outputs of a node with bodies."""
        if node.op_type == "If":
            results = self._branches(node, scope, name, inputs)
        else:
            body, around = self._body_of(node, "body", scope, name)
            unroll = self._unroller.loop if node.op_type == "Loop" else self._unroller.scan
            results = unroll(node, body, around, inputs)
        if len(results) < len(node.outputs):
            raise InvalidNode("its body has fewer outputs than the node")
        return results

    def _branches(self, node: FileNode, scope: Scope, name: str, inputs: Sequence[str]) -> list[str | None]:
        """The outputs of an If: results of the branch that is taken, or of both, chosen while the program runs."""
        condition = self._importer.constant(inputs[0]) if inputs else None
        if not inputs or self._builder.tensor(inputs[0]).elements != 1:
            raise InvalidNode("its condition must have one element")
        both = ("then_branch", "else_branch")
        taken = both if condition is None else both[:1] if condition.any() else both[1:]
        results, refused = [], len(self.refused)
        for which in taken:
            body, around = self._body_of(node, which, scope, f"{name}/{which}" if condition is None else name)
            if body.inputs or len(body.outputs) < len(node.outputs):
                raise InvalidNode(f"its {which} has inputs, or fewer outputs than the node")
            results.append(self._results(body, around)[: len(node.outputs)])
        if condition is not None:
            return results[0]
        if len(self.refused) > refused:
            raise RefusedNode(f"{AT_RUN_TIME}, and one of its branches cannot be imported")
        return chosen_in(Scope(outer=scope, prefix=f"{name}/"), self._builder, inputs[0], results)

    def _body_of(self, node: FileNode, which: str, scope: Scope, name: str) -> tuple[FileGraph, Scope]:
        """The body that is an attribute of the node, and the scope for its nodes."""
        body = next((each.value for each in node.attributes if each.name == which), None)
        if not isinstance(body, FileGraph):
            raise InvalidNode(f"its {which} is missing")
        inner = Scope(outer=scope, prefix=f"{name}/")
        check_unique((tensor.name for tensor in body.initializers), "initialiser")
        for tensor in body.initializers:
            inner.values[tensor.name] = self._builder.names.take(inner.prefix + tensor.name)
            self._importer.load(tensor, str(inner.values[tensor.name]))
        return body, inner

    def _results(self, body: FileGraph, scope: Scope) -> list[str | None]:
        """Import the nodes of a body and return the values of its outputs."""
        results = [value.name for value in body.outputs]
        self.body(body.nodes, scope, results)
        return scope.results(results)

    def _name(self, scope: Scope, name: str, node: str) -> str:
        names = self._builder.names
        if name and scope.main:
            return names.claim(name)
        return names.take(scope.prefix + name if name else f"{node}/unused")

    def _refuse(self, node: FileNode, scope: Scope, reason: str) -> None:
        values = [scope.find(name) or "" for name in node.inputs if name and scope.has(name)][:3]
        tensors = [self._builder.tensors[value] for value in values if value in self._builder.tensors]
        shapes = (f"{tensor.dtype.value} {'x'.join(map(str, tensor.shape)) or 'scalar'}" for tensor in tensors)
        self.refused.append(
            RefusedAt(
                signature=show(f"{node.domain + ':' if node.domain else ''}{node.op_type}")[1:-1] + f"-{node.version}",
                node=scope.prefix + (node.name or node.op_type),
                shapes=", ".join(shapes),
                reason=shorten(reason),
            )
        )


def _is_control_flow(node: FileNode) -> bool:
    return not node.domain and node.op_type in _CONTROL_FLOW


def _used_outputs(node: FileNode, used: Mapping[str, int]) -> tuple[str, ...]:
    """The outputs without those at the end that nothing reads; the first always stays."""
    outputs = list(node.outputs)
    while len(outputs) > 1 and not (outputs[-1] and used[outputs[-1]]):
        outputs.pop()
    return tuple(outputs)


def _unsorted(node: FileNode) -> Diagnostic:
    return Diagnostic(
        code="TW1215",
        severity="warning",
        message="the nodes were not in the order of their data; they have been sorted",
        where=label(node),
        fix=("ONNX asks for sorted nodes: report this to the exporter's authors",),
    )
