"""Knows the test cases of the installed onnx package: which of them a compiler of static networks can be asked for,
what is put into them and what must come out. Does not know tilewright.

In scope is a case of fixed shapes whose tensors have types that tilewright holds, outside training, without random
numbers and without outputs whose size depends on the data. Inputs that are parameters (the shape of a Reshape) are made
constants.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import numpy_helper
from onnx.backend.test.loader import load_model_tests

from conformance.tiers import LAST, TIER_OF

Array = npt.NDArray[np.generic]

KINDS = ("node", "simple", "pytorch-operator", "pytorch-converted")
_TYPES = frozenset({1, 2, 3, 4, 5, 6, 7, 9, 12, 13})  # float32, integers of 8 to 64 bits, bool
_DATA_DEPENDENT = frozenset({"NonZero", "Unique", "Compress", "NonMaxSuppression", "StringSplit"})
_RANDOM = frozenset(
    {"RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike", "Multinomial", "Bernoulli"}
)
_REDUCTIONS = ("L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare")
_PARAMETERS = MappingProxyType(  # op_type -> inputs that a static network has as constants
    {
        **dict.fromkeys(("Reshape", "Expand", "Tile", "Squeeze", "Unsqueeze", "Split", "Upsample", "TopK"), (1,)),
        **dict.fromkeys(("OneHot", "AffineGrid", "CenterCropPad", "Trilu", "CumSum", "CumProd"), (1,)),
        **dict.fromkeys(("ConstantOfShape", "BlackmanWindow", "HannWindow", "HammingWindow"), (0,)),
        **dict.fromkeys((f"Reduce{name}" for name in _REDUCTIONS), (1,)),
        **dict.fromkeys(("DFT", "Col2Im", "Dropout"), (1, 2)),
        "Pad": (1, 3),
        "Slice": (1, 2, 3, 4),
        "Resize": (1, 2, 3),
        "Range": (0, 1, 2),
        "STFT": (1, 3),
        "MaxUnpool": (2,),
        "MelWeightMatrix": (0, 1, 2, 3, 4),
        "Loop": (0, 1),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One case. `operator` is what it tests: an op_type, or the kind of a whole graph in brackets."""

    name: str
    operator: str
    tier: int
    opset: int  # of domain ai.onnx
    expanded: bool  # the operator written out as the body of its function
    baked: bool  # some parameters were inputs, and are constants here
    model: bytes
    inputs: Mapping[str, Array]
    outputs: tuple[Array, ...]
    relative: float  # tolerance of float outputs
    absolute: float


@cache
def all_cases() -> Mapping[str, Case]:
    """Every case in scope, by name. Makes them: seconds."""
    np.random.seed(0)
    loaded = [item for kind in KINDS for item in sorted(load_model_tests(kind=kind), key=lambda item: str(item.name))]
    single = {item.name: _op_types(item.model) for item in loaded if item.kind == "node"}
    parameters = {item.name: _parameters(item.model) for item in loaded if item.kind == "node"}
    chosen = (_case(item, _model(item), single, parameters) for item in loaded)
    return MappingProxyType({case.name: case for case in chosen if case})


def _model(item: Any) -> onnx.ModelProto:
    return item.model if item.kind == "node" else onnx.load(Path(item.model_dir) / "model.onnx")


def _op_types(model: onnx.ModelProto | None) -> frozenset[str]:
    return frozenset(node.op_type for node in _nodes(model)) if model else frozenset()


def _case(
    item: Any, model: onnx.ModelProto, single: Mapping[str, frozenset[str]], parameters: Mapping[str, set[str]]
) -> Case | None:
    if not in_scope(item.name, model):
        return None
    operator = _tested(item, model, single)
    inputs, outputs = _data(item)
    constants = {value.name for value in model.graph.initializer}
    names = [value.name for value in model.graph.input if value.name not in constants]
    given = {name: array for name, array in zip(names, inputs, strict=False) if array is not None}
    written_out_of = parameters.get(_stem(item.name), set())  # what is a parameter of an operator is one of its body
    baked = (_parameters(model) | written_out_of) & given.keys()
    tiers = [TIER_OF.get(op_type, LAST) for op_type in _op_types(model)] if operator[0] == "(" else []
    return Case(
        name=item.name,
        operator=operator,
        tier=max(tiers, default=TIER_OF.get(operator, LAST)),
        opset=max((each.version for each in model.opset_import if each.domain in ("", "ai.onnx")), default=0),
        expanded="_expanded" in item.name,
        baked=bool(baked),
        model=_with_constants(model, {name: given[name] for name in baked}).SerializeToString(),
        inputs={name: array for name, array in given.items() if name not in baked},
        outputs=tuple(outputs),
        relative=max(item.rtol, 1e-3),
        absolute=max(item.atol, 1e-5),
    )


def _stem(name: str) -> str:
    """The name of the case that this one is written out of."""
    return re.sub(r"_expanded.*$", "", name)


def _tested(item: Any, model: onnx.ModelProto, single: Mapping[str, frozenset[str]]) -> str:
    if item.kind != "node":
        return f"({item.kind})"
    stem = _stem(item.name)
    op_types = single.get(stem, frozenset()) if stem != item.name else _op_types(model)
    if len(op_types) == 1:
        return next(iter(op_types))
    return model.graph.node[-1].op_type if len(model.graph.node) else "?"


def in_scope(name: str, model: onnx.ModelProto) -> bool:
    """Whether a compiler of static networks can be asked for the case."""
    nodes = list(_nodes(model))
    op_types = {node.op_type for node in nodes}
    domains = {node.domain for node in nodes} | {each.domain for each in model.opset_import}
    training = "training" in name or "train_" in name or any(map(_trains, nodes))
    return (
        _static(model)
        and _held(model)
        and domains <= {"", "ai.onnx"}
        and not training
        and not op_types & (_RANDOM | _DATA_DEPENDENT)
    )


def _trains(node: onnx.NodeProto) -> bool:
    return any(each.name == "training_mode" and each.i for each in node.attribute)


def _nodes(model: onnx.ModelProto) -> Iterator[onnx.NodeProto]:
    yield from _walk(model.graph.node)
    for function in model.functions:
        yield from function.node


def _walk(nodes: Sequence[onnx.NodeProto]) -> Iterator[onnx.NodeProto]:
    for node in nodes:
        yield node
        for attribute in node.attribute:
            for graph in (attribute.g, *attribute.graphs):
                yield from _walk(graph.node)


def _ends(model: onnx.ModelProto) -> list[onnx.ValueInfoProto]:
    constants = {value.name for value in model.graph.initializer}
    return [value for value in (*model.graph.input, *model.graph.output) if value.name not in constants]


def _static(model: onnx.ModelProto) -> bool:
    types = [value.type for value in _ends(model)]
    return all(
        each.HasField("tensor_type")
        and each.tensor_type.HasField("shape")
        and all(dim.HasField("dim_value") for dim in each.tensor_type.shape.dim)
        for each in types
    )


def _held(model: onnx.ModelProto) -> bool:
    types = {value.type.tensor_type.elem_type for value in _ends(model)}
    types.update(tensor.data_type for tensor in model.graph.initializer)
    for node in _nodes(model):
        for attribute in node.attribute:
            if attribute.name == "to" and node.op_type == "Cast":
                types.add(attribute.i)
            if attribute.type == attribute.TENSOR:
                types.add(attribute.t.data_type)
    return types <= _TYPES


def _parameters(model: onnx.ModelProto) -> set[str]:
    return {
        node.input[index]
        for node in _nodes(model)
        for index in _PARAMETERS.get(node.op_type, ())
        if index < len(node.input)
    }


def _with_constants(model: onnx.ModelProto, values: Mapping[str, Array]) -> onnx.ModelProto:
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    for name, array in sorted(values.items()):
        copy.graph.initializer.append(numpy_helper.from_array(np.asarray(array), name))
    for value in [value for value in copy.graph.input if value.name in values]:
        copy.graph.input.remove(value)
    return copy


def _data(item: Any) -> tuple[list[Array | None], list[Array]]:
    if item.kind == "node":
        inputs, outputs = item.data_sets[0]
        return [None if each is None else _array(each) for each in inputs], [_array(each) for each in outputs]
    folder = Path(item.model_dir) / "test_data_set_0"
    return list(_tensors(folder, "input")), list(_tensors(folder, "output"))


def _array(value: Any) -> Array:
    """Data of a case: some are arrays, some protobufs."""
    return numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else np.asarray(value)


def _tensors(folder: Path, role: str) -> Iterator[Array]:
    for index in range(len(list(folder.glob(f"{role}_*.pb")))):
        tensor = onnx.TensorProto()
        tensor.ParseFromString((folder / f"{role}_{index}.pb").read_bytes())
        yield numpy_helper.to_array(tensor)
