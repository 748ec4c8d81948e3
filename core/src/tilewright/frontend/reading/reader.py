"""Knows ONNX's protobuf: turns bytes into a `FileModel`, within limits. Only here are protobufs read.
Does not know what nodes mean; onnx's own checker is not asked, because it passes hostile files.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from errno import ELOOP
from pathlib import Path
from stat import S_IFBLK, S_IFCHR, S_IFDIR, S_IFIFO, S_IFMT, S_IFSOCK
from types import MappingProxyType
from typing import Any

from tilewright.errors import TilewrightError, model_error, with_fix
from tilewright.errors.suggestions import similar_file
from tilewright.frontend.reading.file_model import (
    FileAttribute,
    FileFunction,
    FileGraph,
    FileModel,
    FileNode,
    FileTensor,
    FileValue,
    FunctionKey,
)
from tilewright.frontend.reading.import_options import raised, raised_together
from tilewright.frontend.reading.names import show
from tilewright.frontend.reading.opsets import opsets_of, opsets_of_model, own_domain
from tilewright.frontend.reading.wire import damage, wire_size
from tilewright.ir.graphs.model_formats import Limits

# ONNX attribute type number -> (name, protobuf field)
_ATTRIBUTE_KINDS = MappingProxyType(
    {
        1: ("FLOAT", "f"),
        2: ("INT", "i"),
        3: ("STRING", "s"),
        4: ("TENSOR", "t"),
        5: ("GRAPH", "g"),
        6: ("FLOATS", "floats"),
        7: ("INTS", "ints"),
        8: ("STRINGS", "strings"),
        9: ("TENSORS", "tensors"),
        10: ("GRAPHS", "graphs"),
        11: ("SPARSE_TENSOR", "sparse_tensor"),
        12: ("SPARSE_TENSORS", "sparse_tensors"),
        13: ("TYPE_PROTO", "tp"),
        14: ("TYPE_PROTOS", "type_protos"),
    }
)
_SMALL_BYTES = 1 << 20  # a file of this size takes 200 MB at most
_PARTS_PER_NODE = 32  # of the file: names, attributes, shapes; real files have ten to twenty
_UNKNOWN = -1  # what frameworks write for an extent that nothing is said about
_COMMON_FIELDS = frozenset({"name", "type", "doc_string", "ref_attr_name"})

# ONNX element type number -> protobuf field that holds typed elements, and the numpy type of that field
_TYPED_FIELDS = MappingProxyType(
    dict.fromkeys((*range(2, 7), 9, 10, *range(16, 24), 25, 26), ("int32_data", "int32"))
    | {1: ("float_data", "float32"), 7: ("int64_data", "int64"), 11: ("double_data", "float64")}
    | dict.fromkeys((12, 13), ("uint64_data", "uint64"))
)
_DATA_FIELDS = frozenset({"float_data", "int32_data", "string_data", "int64_data", "double_data", "uint64_data"})


_AS_FILE = "write the model to a file, and name that"
_KINDS = MappingProxyType(
    {S_IFDIR: "a folder", S_IFIFO: "a pipe", S_IFSOCK: "a socket", S_IFCHR: "a device", S_IFBLK: "a device"}
)


@contextmanager
def model_in_errors(source: Path | bytes) -> Iterator[None]:
    """Errors inside say of which model they are, by the name of its file."""
    place = show(source.name)[1:-1] if isinstance(source, Path) else "model given as bytes"
    try:
        yield
    except TilewrightError as error:
        raise replace(error, where=f"{place}: {error.where}" if error.where else place) from error


def read_bytes(path: Path, limits: Limits) -> bytes:
    """The bytes of a model file. Raises TW1201 when there is no such file, TW1203 when it is too large."""
    try:
        if not path.is_file():
            raise _no_file(path)
        size = path.stat().st_size
        if size > limits.file_bytes:
            raise _file_too_large(size, limits)
        return path.read_bytes()
    except OSError as error:
        raise model_error(
            "TW1201", f"cannot read the model: {error.strerror or error}", fix=("check the path and its permissions",)
        ) from error


def model_bytes(source: Path | bytes, limits: Limits) -> bytes:
    """The bytes of a model, wherever they are. Raises TW1201 and TW1203 as `read_bytes`."""
    if isinstance(source, Path):
        return read_bytes(source, limits)
    if len(source) > limits.file_bytes:
        raise _file_too_large(len(source), limits)
    return source


def _no_file(path: Path) -> TilewrightError:
    """TW1201 with what the path names instead of a file. A pipe or a device is not read, because it need not end."""
    reason, fix = "does not exist", "check the path"
    try:
        kind = S_IFMT(path.stat().st_mode)
        reason, fix = f"it is {_KINDS.get(kind, 'no file')}", fix if kind == S_IFDIR else _AS_FILE
    except OSError as error:
        if path.is_symlink():
            reason = "its links lead in a circle" if error.errno == ELOOP else "its link leads to nothing"
        elif path == Path("-"):
            reason, fix = "it does not come from standard input", _AS_FILE
        elif (similar := similar_file(path)) is not None:
            fix = shlex.quote(str(similar))
            details = (f"did you mean '{similar}'?",)
            return model_error("TW1201", f"cannot read the model: {reason}", details=details, fix=(fix,))
    return model_error("TW1201", f"cannot read the model: {reason}", fix=(fix,))


def read_model(data: bytes, limits: Limits) -> FileModel:
    """Everything of a file that tilewright uses. Raises TW1202, TW1203, TW1204, TW1213 or TW1217."""
    return file_model(parse(model_bytes(data, limits), limits), limits)


def file_model(proto: Any, limits: Limits) -> FileModel:
    """Everything of a protobuf that tilewright uses, whoever made it. Raises as `read_model`."""
    if not proto.HasField("graph"):
        raise corrupt("it holds no graph")
    return _Reader(limits).model(proto)


def read_function(data: bytes, limits: Limits) -> FileFunction:
    """A function by itself: the package onnx defines operators by such functions."""
    import onnx

    return _Reader(limits).function(onnx.FunctionProto.FromString(data), {})


def read_attribute(proto: Any, limits: Limits) -> FileAttribute:
    """An attribute by itself: the package onnx has defaults in this form."""
    return _Reader(limits).attribute(proto, "default", 1)


def over_limit(what: str, count: int, unit: str, limit: int, where: str = "", name: str = "") -> TilewrightError:
    """A file asks for more than `Limits` allows; `name` is the limit's in `--limit`, where it can be raised."""
    return model_error(
        "TW1203",
        f"{what} {count:,} {unit}, more than the limit of {limit:,}",
        where=where,
        fix=(*([raised(name, count)] if name else ()), "export a smaller model"),
    )


def _file_too_large(size: int, limits: Limits) -> TilewrightError:
    """A file is larger than `Limits` allows. It may be one constant: limits below its size are raised, too."""
    others = {"constants": limits.constant_bytes, "tensor": limits.tensor_bytes}
    needed = {"file": size, **{name: size for name, most in others.items() if size > most}}
    error = over_limit("the file has", size, "bytes", limits.file_bytes)
    return with_fix(error, (raised_together(needed), *error.fix))


def too_many_nodes(what: str, count: int, most: int) -> TilewrightError:
    """A file has more nodes than `Limits` allows. They are not counted to the end: twice as many may do."""
    error = over_limit(what, count, "nodes or more", most)
    return with_fix(error, (raised("nodes", 2 * count), *error.fix))


def corrupt(reason: str) -> TilewrightError:
    """The bytes are no ONNX model."""
    return model_error(
        "TW1202",
        f"this is not a readable ONNX file: {reason}",
        fix=("export or download the model again", "open it in another ONNX tool to see whether it is the file"),
    )


def parse(data: bytes, limits: Limits) -> Any:
    """The protobuf of a model, with a graph. Raises TW1202 where it is none, TW1203 where it would take too much."""
    if reason := damage(data):
        raise corrupt(reason)
    import onnx

    if len(data) > _SMALL_BYTES:
        _check_size(data, onnx.ModelProto.DESCRIPTOR, limits)
    from google.protobuf.message import DecodeError

    try:
        proto = onnx.ModelProto.FromString(data)
    except DecodeError as error:
        raise corrupt("its contents are damaged, or nested too deeply to be a model") from error
    if not proto.HasField("graph"):
        raise corrupt("it holds no graph")
    return proto


def _check_size(data: bytes, description: Any, limits: Limits) -> None:
    """Refuse a file that would take much more memory once it is parsed."""
    most = _PARTS_PER_NODE * limits.nodes
    size = wire_size(data, description, most, limits.constant_bytes)
    if size.number_bytes > limits.constant_bytes:
        raise over_limit("its numbers take", size.number_bytes, "bytes", limits.constant_bytes, name="constants")
    if size.parts > most:
        error = over_limit("the file has", size.parts, "fields or more", most)
        raise with_fix(error, (raised("nodes", 2 * limits.nodes), *error.fix))


class _Reader:
    """Translates one file; counts nodes and initialisers as it goes."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.nodes = 0
        self.initializers = 0
        self.opsets: Mapping[str, int] = {}

    def model(self, proto: Any) -> FileModel:
        opsets = self.opset_names(opsets_of_model(proto))
        functions: dict[FunctionKey, FileFunction] = {}
        for item in proto.functions:
            function = self.function(item, opsets)
            key = (function.domain, function.name, function.overload)
            if key in functions:
                raise model_error(
                    "TW1208",
                    f"the function {show(function.name)} is defined twice",
                    fix=("remove one of the two definitions",),
                )
            functions[key] = function
        self.opsets = opsets
        graph = self.graph(proto.graph, 0)
        if not graph.outputs:
            raise model_error("TW1217", "the graph has no outputs", fix=("export the model with its outputs",))
        return FileModel(graph=graph, functions=functions, opsets=opsets, ir_version=proto.ir_version)

    def opset_names(self, opsets: Mapping[str, int]) -> Mapping[str, int]:
        return {self.name(domain): version for domain, version in opsets.items()}

    def function(self, proto: Any, opsets: Mapping[str, int]) -> FileFunction:
        where = f"function {show(self.name(proto.name))}"
        self.opsets = {**opsets, **self.opset_names(opsets_of(proto.opset_import, proto.node, where))}
        return FileFunction(
            name=self.name(proto.name),
            domain=own_domain(self.name(proto.domain)),
            overload=self.name(proto.overload),
            inputs=tuple(self.name(name) for name in proto.input),
            outputs=tuple(self.name(name) for name in proto.output),
            nodes=tuple(self.node(node, 1) for node in proto.node),
            attributes=tuple(self.name(name) for name in proto.attribute),
            defaults=tuple(self.attribute(item, where, 1) for item in proto.attribute_proto),
        )

    def graph(self, proto: Any, depth: int) -> FileGraph:
        if depth > self.limits.nesting:
            raise over_limit("graphs are nested", depth, "deep", self.limits.nesting)
        self.initializers += len(proto.initializer)
        if self.initializers > self.limits.initializers:
            count, most = self.initializers, self.limits.initializers
            raise over_limit("the file has", count, "initialisers", most, name="initializers")
        if proto.sparse_initializer:
            raise model_error(
                "TW1217", "sparse initialisers are not supported", fix=("export the model with dense weights",)
            )
        return FileGraph(
            name=self.name(proto.name),
            nodes=tuple(self.node(node, depth) for node in proto.node),
            inputs=tuple(self.value(value) for value in proto.input),
            outputs=tuple(self.value(value) for value in proto.output),
            initializers=tuple(self.tensor(tensor, "initialiser") for tensor in proto.initializer),
            values=tuple(self.value(value) for value in proto.value_info),
        )

    def node(self, proto: Any, depth: int) -> FileNode:
        self.nodes += 1
        if self.nodes > self.limits.nodes:
            raise too_many_nodes("the file has", self.nodes, self.limits.nodes)
        domain = own_domain(self.name(proto.domain))
        name, op_type = self.name(proto.name), self.name(proto.op_type)
        where = f"node {show(name or op_type)}"
        return FileNode(
            name=name,
            op_type=op_type,
            domain=domain,
            overload=self.name(proto.overload),
            version=self.opsets.get(domain, 0),
            inputs=tuple(map(self.name, proto.input)),
            outputs=tuple(map(self.name, proto.output)),
            attributes=tuple(self.attribute(item, where, depth) for item in proto.attribute),
        )

    def attribute(self, proto: Any, where: str, depth: int) -> FileAttribute:
        name = self.name(proto.name)
        kind, field = _ATTRIBUTE_KINDS.get(proto.type, ("", ""))
        if not kind:
            raise bad_attribute(name, f"has no valid type (type number {proto.type})", where)
        filled = [entry[0].name for entry in proto.ListFields()]
        wrong = [other for other in filled if other != field and other not in _COMMON_FIELDS]
        if wrong:
            raise bad_attribute(name, f"says it is {kind} but holds a value in field {wrong[0]!r}", where)
        if proto.ref_attr_name:
            return FileAttribute(name=name, kind=kind, reference=self.name(proto.ref_attr_name))
        convert: Mapping[str, Callable[[Any], object]] = {
            "FLOAT": float,
            "INT": int,
            "STRING": bytes,
            "FLOATS": tuple,
            "INTS": tuple,
            "STRINGS": tuple,
            "TENSOR": lambda value: self.tensor(value, where),
            "GRAPH": lambda value: self.graph(value, depth + 1),
        }
        value = convert[kind](getattr(proto, field)) if kind in convert else None
        return FileAttribute(name=name, kind=kind, value=value)

    def tensor(self, proto: Any, where: str) -> FileTensor:
        name = self.name(proto.name)
        place = f"{where} {show(name)}" if name else where
        if len(proto.dims) > self.limits.rank:
            raise over_limit("a tensor has", len(proto.dims), "dimensions", self.limits.rank, place)
        if proto.HasField("segment"):
            raise bad_tensor("is stored in segments, which ONNX does not define", place)
        filled = [entry[0].name for entry in proto.ListFields()]
        typed = [field for field in filled if field in _DATA_FIELDS]
        tensor = FileTensor(name=name, data_type=proto.data_type, dims=tuple(proto.dims))
        external = proto.data_location == 1
        if len(typed) + ("raw_data" in filled) + external > 1:
            raise bad_tensor("has its elements in more than one place", place)
        if external:
            entries = tuple((self.name(entry.key), self.name(entry.value)) for entry in proto.external_data)
            return replace(tensor, external=entries)
        if "raw_data" in filled:
            return replace(tensor, raw=proto.raw_data)
        if proto.data_type not in _TYPED_FIELDS:
            return tensor  # of a type that is refused where it is used: nobody reads its elements
        field, numpy_type = _TYPED_FIELDS[proto.data_type]
        if typed and typed[0] != field:
            raise bad_tensor(f"has its elements in {typed[0]}, not in {field}", place)
        import numpy as np

        values, dtype = getattr(proto, field), np.dtype(numpy_type)
        size, most = len(values) * dtype.itemsize, self.limits.constant_bytes
        if size > most:  # an element of one byte takes four here
            raise over_limit("a tensor takes", size, "bytes", most, place, name="constants")
        return replace(tensor, values=np.fromiter(values, dtype, len(values)))

    def value(self, proto: Any) -> FileValue:
        name = self.name(proto.name)
        kind = proto.type.WhichOneof("value") or ""
        if kind != "tensor_type":
            return FileValue(name=name, kind=kind)
        tensor = proto.type.tensor_type
        if not tensor.HasField("shape"):
            return FileValue(name=name, kind=kind, data_type=tensor.elem_type)
        if len(tensor.shape.dim) > self.limits.rank:
            count = len(tensor.shape.dim)
            raise over_limit("a value has", count, "dimensions", self.limits.rank, f"value {show(name)}")
        dims = tuple(self.dim(dim) for dim in tensor.shape.dim)
        return FileValue(name=name, kind=kind, data_type=tensor.elem_type, dims=dims)

    def dim(self, proto: Any) -> int | str | None:
        which = proto.WhichOneof("value")
        if which == "dim_value":
            return None if proto.dim_value == _UNKNOWN else int(proto.dim_value)
        symbol = self.name(proto.dim_param) if which == "dim_param" else ""
        return None if symbol in ("", "?", str(_UNKNOWN)) else symbol  # "?" is what tools print where nothing is said

    def name(self, text: str | bytes) -> str:
        if isinstance(text, bytes):  # what protobuf hands out for text that cannot be decoded
            raise corrupt("a name in it is not valid UTF-8")
        if len(text) > self.limits.name_length:
            raise over_limit("a name has", len(text), "characters", self.limits.name_length, show(text))
        return text


def bad_attribute(name: str, reason: str, where: str) -> TilewrightError:
    """An attribute that is broken in itself, whatever the operator."""
    return model_error(
        "TW1213",
        f"attribute {show(name)} {reason}",
        where=where,
        fix=("the exporter wrote an invalid file: export again with a newer version of it",),
    )


def bad_tensor(reason: str, where: str) -> TilewrightError:
    """A tensor whose elements and description disagree."""
    return model_error(
        "TW1211",
        f"a tensor {reason}",
        where=where,
        fix=("the file is damaged or hand-made: export the model again",),
    )
