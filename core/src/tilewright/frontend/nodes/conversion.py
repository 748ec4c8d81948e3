"""Knows how one ONNX node becomes nodes of the normal form: finds its signature, checks it, folds or converts it.
Does not know graphs around it (`model_walk`), nor any operator.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from tilewright.frontend.nodes.builder import GraphBuilder
from tilewright.frontend.nodes.fold import fold
from tilewright.frontend.nodes.scales import check_scales
from tilewright.frontend.nodes.widening import convert_on_float32, has_doubles, needs_width
from tilewright.frontend.reading.external import ExternalFiles
from tilewright.frontend.reading.file_model import FileNode, FileTensor
from tilewright.frontend.reading.names import show, show_all
from tilewright.frontend.reading.reader import over_limit
from tilewright.frontend.reading.refusals import InvalidNode, RefusedNode
from tilewright.frontend.reading.sorting import label
from tilewright.frontend.reading.values import packed_bits, to_array, typed_attributes
from tilewright.frontend.schemas import KnownInputs, check_signature
from tilewright.ir.graphs.graph import Attribute, Node, Tensor
from tilewright.ir.graphs.importing import Import, OnnxNode
from tilewright.ir.graphs.model_formats import Limits
from tilewright.ir.tensors.dtypes import ELEMENT_TYPES, type_name

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportTable:
    """Every signature, by domain and op_type, oldest first. `constant_only` applies where no other does.

    `replaced` are those that only become newer ones, by op_type and first version.
    """

    by_type: Mapping[tuple[str, str], tuple[Import, ...]]
    constant_only: Mapping[tuple[str, str], tuple[Import, ...]]
    replaced: frozenset[tuple[str, int]]

    @classmethod
    def of(
        cls, imports: Iterable[Import], constant_only: Iterable[Import], older: Iterable[Import] = ()
    ) -> ImportTable:
        """A table of all signatures; of the `older` ones only those that no other replaces."""
        known = _grouped(imports)
        taken = {(each.op_type, each.since) for group in known.values() for each in group if not each.domain}
        missing = [
            each for each in older if (each.op_type, each.since) not in taken and (each.domain, each.op_type) in known
        ]
        return cls(
            by_type=_grouped((*(each for group in known.values() for each in group), *missing)),
            constant_only=_grouped(constant_only),
            replaced=frozenset((each.op_type, each.since) for each in missing),
        )

    def has(self, domain: str, op_type: str) -> bool:
        """Whether there is a signature in any version, for any inputs."""
        return (domain, op_type) in self.by_type or (domain, op_type) in self.constant_only

    def find(self, domain: str, op_type: str, version: int) -> Import:
        """The signature in force at `version`. Raises RefusedNode when there is none."""
        key = (domain, op_type)
        candidates = self.by_type.get(key) or self.constant_only.get(key)
        if not candidates:
            known = any(other == op_type for _, other in self.by_type)
            raise RefusedNode(
                f"domain {show(domain)} is not known" if known else "no installed package knows this operator"
            )
        fitting = [each for each in candidates if each.since <= version]
        if not fitting:
            raise RefusedNode(f"only known from opset {candidates[0].since}")
        return fitting[-1]

    def first_with(self, domain: str, op_type: str, attributes: Iterable[str], after: int) -> int | None:
        """The first opset above `after` whose signature has all `attributes`; None where none has."""
        wanted = set(attributes)
        later = (each for each in self.by_type.get((domain, op_type), ()) if each.since > after)
        return next((each.since for each in later if wanted <= set(each.attributes)), None)


def _grouped(imports: Iterable[Import]) -> Mapping[tuple[str, str], tuple[Import, ...]]:
    groups: dict[tuple[str, str], list[Import]] = {}
    for each in sorted(imports, key=lambda each: each.since):
        groups.setdefault((each.domain, each.op_type), []).append(each)
    return MappingProxyType({key: tuple(group) for key, group in groups.items()})


class NodeImporter:
    """The `Conversion` of import functions, and the caller of these functions. One per import."""

    def __init__(self, table: ImportTable, builder: GraphBuilder, files: ExternalFiles, limits: Limits) -> None:
        self._table = table
        self._builder = builder
        self._files = files
        self._limits = limits
        self._constant_bytes = 0  # decoded so far
        self._fold_bytes = limits.fold_total_bytes  # left
        self._packed: dict[str, FileTensor] = {}  # constants of 4 and 2 bits that nobody has read yet, by their names
        self._wide: dict[str, str] = {}  # those that were read -> the same numbers in 8 bits
        self._bits: dict[str, int] = {}  # of these numbers, how many bits the file has for each
        self._aliases: dict[str, str] = {}  # output that is simply another value -> that value
        self._emitted: set[str] = set()  # names of nodes of the normal form
        self._origin = ""
        self._open: tuple[str, ...] = ()  # outputs of the node at hand
        self.widened: list[str] = []  # operators of nodes that were imported on wider floats than theirs
        self.narrowed: list[str] = []  # of those on narrower ones

    def run(
        self,
        file_node: FileNode,
        name: str,
        inputs: Sequence[str],
        outputs: Sequence[str],
        unread: frozenset[str] = frozenset(),
    ) -> tuple[str | None, ...]:
        """Import one node and return the values that its outputs are; None for one that is `unread` and left out.

        Raises RefusedNode, InvalidNode.
        """
        where = label(file_node)
        self.check(file_node)
        signature = self._found(file_node)
        node = OnnxNode(
            name=name,
            op_type=file_node.op_type,
            domain=file_node.domain,
            version=file_node.version,
            inputs=self._unpacked(inputs) if signature.packed else tuple(inputs),
            outputs=tuple(outputs),
            attributes=typed_attributes(file_node, signature.attributes, self._decoded, where),
            unread=unread,
        )
        _check_inputs(node, signature)
        check_scales(node, self._builder.constants.get, self._builder.tensor, where)
        known_inputs = KnownInputs(node, self._builder.described, self._builder.constants.get)
        check_signature(known_inputs, len(file_node.outputs))
        self._origin, self._open = name, node.outputs
        self._convert(node, signature)
        absent = {output for output in unread if output not in self._aliases and not self._builder.has(output)}
        return tuple(None if output in absent else self._written(node, output) for output in node.outputs)

    def knows(self, node: FileNode) -> bool:
        """Whether there is a signature for the node's operator, in any version."""
        return self._table.has(node.domain, node.op_type)

    def check(self, node: FileNode) -> None:
        """Raise RefusedNode for an operator or attributes that can be refused without the node's inputs."""
        signature = self._found(node)
        unknown = [attribute.name for attribute in node.attributes if attribute.name not in signature.attributes]
        if unknown:
            later = self._table.first_with(node.domain, node.op_type, unknown, node.version)
            if later is None:
                raise RefusedNode(f"attribute {show_all(unknown)} is not supported")
            came = f"attribute {show_all(unknown)} came with opset {later}, and the file says {node.version}"
            raise RefusedNode(f"{came}: export with opset {later} or later")

    def load(self, tensor: FileTensor, name: str) -> None:
        """Make an initialiser the constant `name`. Types that numpy does not hold are refused where they are used."""
        if tensor.data_type in ELEMENT_TYPES:
            self._builder.add_constant(name, self._array(tensor, f"initialiser {show(tensor.name)}"))
        else:
            self._builder.foreign[name] = type_name(tensor.data_type)
            if packed_bits(tensor.data_type):
                self._packed[name] = tensor

    def _unpacked(self, inputs: Sequence[str]) -> tuple[str, ...]:
        """The inputs of a node; constants of 4 and 2 bits are replaced by ones of 8 bits, each made once."""
        for name in inputs:
            if (tensor := self._packed.pop(name, None)) is not None:
                self._wide[name] = self._builder.names.take(f"{name}/8_bits")
                self._bits[self._wide[name]] = packed_bits(tensor.data_type)
                self._builder.add_constant(self._wide[name], self._array(tensor, f"initialiser {show(tensor.name)}"))
        return tuple(self._wide.get(name, name) for name in inputs)

    def _found(self, node: FileNode) -> Import:
        if not node.version:
            raise InvalidNode(f"the file does not import the operator set {show(node.domain)} that it belongs to")
        return self._table.find(node.domain, node.op_type, node.version)

    def _decoded(self, tensor: FileTensor, where: str) -> Array:
        if tensor.data_type not in ELEMENT_TYPES:
            raise RefusedNode(f"it holds a {type_name(tensor.data_type)} tensor, which tilewright does not hold")
        return self._array(tensor, where)

    def _array(self, tensor: FileTensor, where: str) -> Array:
        array = to_array(tensor, self._files, self._limits, where)
        self._constant_bytes += array.nbytes
        if self._constant_bytes > self._limits.constant_bytes:
            limit_bytes = self._limits.constant_bytes
            size_bytes = self._constant_bytes
            raise over_limit("the constants have", size_bytes, "bytes or more", limit_bytes, where, name="constants")
        return array

    def _convert(self, node: OnnxNode, signature: Import) -> None:
        """Fold the node or import it. Arithmetic on weights (float arrays) is folded only where it cannot be imported:
        graph passes see first whether it is quantisation.
        """
        if (node.op_type, signature.since) in self._table.replaced and not node.domain:
            signature.convert(node, self)
            return
        constants = [self._builder.constants.get(name) if name else None for name in node.inputs]
        if any(name and array is None for name, array in zip(node.inputs, constants, strict=True)):
            self._import(node, signature)
            return
        has_operator = (node.domain, node.op_type) in self._table.by_type
        known = [array for array in constants if array is not None]
        if has_operator and any(array.dtype == "float32" and array.size > 1 for array in known):
            try:
                self._import(node, signature)
            except RefusedNode:
                if not self._folded(node, constants):
                    raise
            return
        try:
            if self._folded(node, constants):
                return
        except RefusedNode:
            if not has_operator:  # otherwise too large to compute now, but the operator can be compiled
                raise
        self._import(node, signature)

    def _import(self, node: OnnxNode, signature: Import) -> None:
        if needs_width(node, signature, self):
            convert_on_float32(node, signature, self, self._written)
            self.widened.append(node.op_type)
            return
        before = self._builder.size
        try:
            signature.convert(node, self)
        except RefusedNode as refusal:
            if self._builder.size != before or not has_doubles(node, self):
                raise
            try:
                convert_on_float32(node, signature, self, self._written)
            except RefusedNode:
                raise refusal from None
            self.narrowed.append(node.op_type)

    def _folded(self, node: OnnxNode, constants: Sequence[Array | None]) -> bool:
        results = fold(node, constants, min(self._limits.fold_bytes, self._fold_bytes))
        if results is None:
            return False
        for name, array in zip(node.outputs, results, strict=False):
            self._builder.add_constant(name, array)
            self._fold_bytes -= array.nbytes
        return True

    def _written(self, node: OnnxNode, output: str) -> str:
        source = self._aliases.get(output, output)
        if not self._builder.has(source):
            raise RefusedNode(f"its output {show(output)} is not supported")
        return source

    def tensor(self, name: str) -> Tensor:
        """See `Conversion`."""
        return self._builder.tensor(name)

    def constant(self, name: str) -> Array | None:
        """See `Conversion`."""
        return self._builder.known(name) if name else None

    def stored_bits(self, name: str) -> int:
        """See `Conversion`."""
        return self._bits.get(name, 8 * self._builder.tensor(name).dtype.size_bytes)

    def need_constant(self, node: OnnxNode, index: int) -> Array:
        """See `Conversion`."""
        name = node.inputs[index] if index < len(node.inputs) else ""
        if not name:
            raise InvalidNode(f"input {index} must be there")
        array = self.constant(name)
        if array is None:
            raise RefusedNode(f"input {index} ({show(name)}) must be known at compile time, but it is computed")
        return array

    def add_constant(self, array: Array, hint: str) -> str:
        """See `Conversion`."""
        writes_output = hint in self._open and not self._builder.has(hint)
        name = hint if writes_output else self._builder.names.take(f"{self._origin}/{hint}")
        self._builder.add_constant(name, array)
        return name

    def emit(
        self,
        node: OnnxNode,
        op: str,
        inputs: Sequence[str],
        outputs: Sequence[str] = (),
        attributes: Mapping[str, Attribute] | None = None,
        hint: str = "",
    ) -> str:
        """See `Conversion`."""
        trimmed = list(inputs)
        while trimmed and not trimmed[-1]:
            trimmed.pop()
        made = Node(
            name=self._node_name(node, hint or op, final=bool(outputs)),
            op=op,
            inputs=tuple(trimmed),
            outputs=tuple(outputs) or (self.name(node, hint or op),),
            attributes=attributes or {},
            origin=(self._origin,),
        )
        self._builder.add_node(made)
        self._emitted.add(made.name)
        return made.outputs[0]

    def name(self, node: OnnxNode, hint: str) -> str:
        """See `Conversion`."""
        return self._builder.names.take(f"{node.name}/{hint}")

    def _node_name(self, node: OnnxNode, hint: str, *, final: bool) -> str:
        if final and node.name not in self._emitted:
            return node.name
        return self._builder.node_names.take(f"{node.name}/{hint}")

    def apply(
        self,
        node: OnnxNode,
        op_type: str,
        version: int,
        inputs: Sequence[str],
        outputs: Sequence[str] = (),
        attributes: Mapping[str, object] | None = None,
        hint: str = "",
    ) -> str:
        """See `Conversion`."""
        signature = self._table.find("", op_type, version)
        inner = OnnxNode(
            name=self._node_name(node, hint or op_type, final=bool(outputs)),
            op_type=op_type,
            domain="",
            version=version,
            inputs=tuple(inputs),
            outputs=tuple(outputs) or (self.name(node, hint or op_type),),
            attributes=attributes or {},
        )
        self._convert(inner, signature)
        return self._written(inner, inner.outputs[0])

    def rename(self, node: OnnxNode, source: str) -> None:
        """See `Conversion`."""
        self._builder.tensor(source)
        self._aliases[node.outputs[0]] = source

    def refuse(self, node: OnnxNode, reason: str) -> Exception:
        """See `Conversion`."""
        return RefusedNode(reason)


def _check_inputs(node: OnnxNode, signature: Import) -> None:
    if len(node.inputs) > signature.max_inputs:
        raise InvalidNode(f"it has {len(node.inputs)} inputs, {node.op_type} takes at most {signature.max_inputs}")
    if len(node.inputs) < signature.min_inputs or not all(node.inputs[: signature.min_inputs]):
        count = sum(map(bool, node.inputs))
        raise InvalidNode(f"it has {count} inputs, {node.op_type} needs {signature.min_inputs}")
