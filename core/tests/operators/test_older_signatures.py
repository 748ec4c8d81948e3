"""The signatures that older models use: imported, computed by the references, compared with ONNX's own evaluator."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from tilewright.comparison.reference import run
from tilewright.errors import TilewrightError
from tilewright.frontend.load import load
from tilewright.operators.elementwise import clip
from tilewright.operators.families import FAMILIES
from tilewright.testing.kernels.kernel_run import run_kernel
from tilewright.testing.operator_sites import site_of

Array = npt.NDArray[Any]
VOCABULARY = {operator.name: operator for family in FAMILIES for operator in import_module(family).OPERATORS}
X = np.arange(1, 25, dtype=np.float32).reshape(2, 3, 1, 4) / 8


@dataclass(frozen=True, kw_only=True)
class Case:
    """One node on x: its constant inputs and attributes, at one opset."""

    op: str
    opset: int
    becomes: tuple[str, ...]  # operators of the normal form
    constants: tuple[Any, ...] = ()
    attributes: dict[str, Any] = field(default_factory=dict)
    x: Array = field(default_factory=lambda: X)
    outputs: int = 1

    def model(self) -> bytes:
        names = [f"c{index}" for index in range(len(self.constants))]
        outputs = [f"y{index}" for index in range(self.outputs)]
        node = helper.make_node(self.op, ["x", *names], outputs, **self.attributes)
        x = helper.make_tensor_value_info("x", helper.np_dtype_to_tensor_dtype(self.x.dtype), self.x.shape)
        values = [helper.make_tensor_value_info(name, TensorProto.UNDEFINED, None) for name in outputs]
        arrays = [
            numpy_helper.from_array(np.asarray(value), name) for name, value in zip(names, self.constants, strict=True)
        ]
        graph = helper.make_graph([node], "g", [x], values, arrays)
        for value in graph.output:
            value.ClearField("type")
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=8)
        return bytes(made.SerializeToString())


NOTHING = ("Reshape",)  # what is left of a node that does nothing, where x itself would be an output
CASES = [
    Case(op="Slice", opset=9, becomes=("Slice",), attributes={"starts": [1, -3], "ends": [2, 100], "axes": [0, 3]}),
    Case(op="Slice", opset=11, becomes=("Slice",), constants=([3], [-100], [-1], [-2])),
    Case(op="Slice", opset=13, becomes=NOTHING, constants=([0], [99], [1])),
    Case(op="Split", opset=11, becomes=("Slice",) * 2, attributes={"axis": 3, "split": [1, 3]}, outputs=2),
    Case(op="Split", opset=13, becomes=("Slice",) * 2, constants=([3, 1],), attributes={"axis": -1}, outputs=2),
    Case(op="Split", opset=18, becomes=("Slice",) * 3, attributes={"axis": 3, "num_outputs": 3}, outputs=3),
    Case(op="Squeeze", opset=11, becomes=("Reshape",), attributes={"axes": [2]}),
    Case(op="Squeeze", opset=13, becomes=("Reshape",), constants=([-2],)),
    Case(op="Squeeze", opset=13, becomes=("Reshape",)),
    Case(op="Unsqueeze", opset=11, becomes=("Reshape",), attributes={"axes": [0, 5]}),
    Case(op="Unsqueeze", opset=13, becomes=("Reshape",), constants=([-1, 1],)),
    Case(op="Flatten", opset=11, becomes=("Reshape",), attributes={"axis": -1}),
    Case(op="Flatten", opset=9, becomes=("Reshape",), attributes={"axis": 0}),
    Case(op="Reshape", opset=7, becomes=("Reshape",), constants=([0, -1],)),
    Case(op="Reshape", opset=14, becomes=("Reshape",), constants=([4, -1, 2],), attributes={"allowzero": 1}),
    Case(op="Transpose", opset=7, becomes=("Transpose",)),
    Case(op="Transpose", opset=7, becomes=NOTHING, attributes={"perm": [0, 1, 2, 3]}),
    Case(op="Concat", opset=7, becomes=("Concat",), constants=(X,), attributes={"axis": -2}),
    Case(op="Pad", opset=9, becomes=("Pad",), attributes={"pads": [0, 1, 0, 2, 0, 0, 1, 0], "value": 1.5}),
    Case(op="Pad", opset=11, becomes=("Pad",), constants=([0, 1, 0, 2, 0, 2, 0, 0],), attributes={"mode": "reflect"}),
    Case(op="Pad", opset=18, becomes=("Pad",), constants=([1, 2], np.float32(3), [3])),
    Case(op="Pad", opset=21, becomes=("Pad",), constants=([0, 1, 0, 2, 0, 2, 0, 0],), attributes={"mode": "wrap"}),
    Case(op="Pad", opset=13, becomes=NOTHING, constants=([0] * 8,)),
    Case(op="Cast", opset=9, becomes=("Cast",), attributes={"to": TensorProto.INT8}),
    Case(op="Cast", opset=19, becomes=NOTHING, attributes={"to": TensorProto.FLOAT}),
    Case(op="Cast", opset=13, becomes=("Cast",), attributes={"to": TensorProto.BOOL}),
    Case(op="LeakyRelu", opset=7, becomes=("LeakyRelu",), attributes={"alpha": 0.3}, x=-X),
    Case(op="Gelu", opset=20, becomes=("GeluTanh",), attributes={"approximate": "tanh"}, x=-X),
    Case(op="Sum", opset=8, becomes=("Add", "Add"), constants=(X, X[:1])),
    Case(op="Max", opset=8, becomes=("Max",), constants=(X[:, :1],)),
    Case(op="Div", opset=7, becomes=("Div",), constants=(np.int32(3),), x=np.arange(-8, 8, dtype=np.int32)),
    Case(op="QuantizeLinear", opset=10, becomes=("QuantizeLinear",), constants=(np.float32(0.03), np.int8(-7))),
    Case(
        op="QuantizeLinear", opset=13, becomes=("QuantizeLinear",), attributes={"axis": -3},
        constants=(np.array([0.1, 0.2, 0.3], np.float32), np.array([1, 2, 3], np.uint8)),
    ),
    Case(
        op="QuantizeLinear", opset=21, becomes=("QuantizeLinear",), constants=(np.float32(0.01),),
        attributes={"output_dtype": TensorProto.INT16},
    ),
    Case(
        op="DequantizeLinear", opset=10, becomes=("DequantizeLinear",), constants=(np.float32(0.3), np.uint8(7)),
        x=np.arange(250, 256, dtype=np.uint8),
    ),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.op}-{case.opset}")
def test_imported_as_onnx_evaluates(case: Case) -> None:
    graph = load(case.model(), operators=VOCABULARY).graph
    assert tuple(node.op for node in graph.nodes) == case.becomes
    found = run(graph, {"x": case.x}, VOCABULARY)
    for value, wanted in zip(graph.outputs, expected(case), strict=True):
        assert found[value].dtype == wanted.dtype
        assert found[value].shape == wanted.shape
        assert np.allclose(found[value], wanted, rtol=1e-5, atol=1e-6)


def expected(case: Case) -> list[Array]:
    """ONNX's evaluator, except where it has not kept the old signature."""
    if (case.op, case.opset) == ("Pad", 9):
        pads = case.attributes["pads"]
        return [np.pad(case.x, list(zip(pads[:4], pads[4:], strict=True)), constant_values=case.attributes["value"])]
    model = replace(case, opset=19).model() if case.op == "DequantizeLinear" else case.model()
    return [np.asarray(array) for array in ReferenceEvaluator(model).run(None, {"x": case.x})]


@pytest.mark.parametrize(
    ("case", "reason"),
    [
        (Case(op="Reshape", opset=14, becomes=(), constants=([5, -1],)), "no extent for -1"),
        (Case(op="Reshape", opset=14, becomes=(), constants=([5, 5],)), "do not make"),
        (Case(op="Reshape", opset=14, becomes=(), constants=([-1, -1],)), "is not a shape"),
        (Case(op="Squeeze", opset=13, becomes=(), constants=([0],)), "not all of extent 1"),
        (Case(op="Unsqueeze", opset=13, becomes=(), constants=([0, 0],)), "name one axis twice"),
        (Case(op="Slice", opset=13, becomes=(), constants=([0], [1], [9])), "not all axes"),
        (Case(op="Slice", opset=13, becomes=(), constants=([0], [1], [0], [0])), "a step is 0"),
        (Case(op="Split", opset=13, becomes=(), attributes={"axis": 3}, outputs=3), "equal parts"),
        (Case(op="Pad", opset=13, becomes=(), constants=([0, 0],)), "pads do not fit"),
        (Case(op="Cast", opset=13, becomes=(), attributes={"to": TensorProto.FLOAT8E5M2}), "float8e5m2"),
        (Case(op="Div", opset=13, becomes=(), constants=(np.int32(0),), x=np.zeros(2, np.int32)), "holds a zero"),
        (Case(op="Gelu", opset=20, becomes=(), attributes={"approximate": "fast"}), "neither 'none' nor 'tanh'"),
        (
            Case(
                op="QuantizeLinear",
                opset=21,
                becomes=(),
                constants=(np.float32(1),),
                attributes={"block_size": 2, "axis": 0},
            ),
            "blocks of 2 along axis 0",
        ),
    ],
    ids=lambda item: item.op if isinstance(item, Case) else "",
)
def test_refused_with_a_reason(case: Case, reason: str) -> None:
    with pytest.raises(TilewrightError) as caught:
        load(case.model(), operators=VOCABULARY)
    assert reason in str(caught.value)


def test_a_clip_with_crossed_limits_gives_the_upper_one(tmp_path: Path) -> None:
    x = np.array([-3, 0, 3, np.nan], np.float32)
    site = site_of(clip.CLIP, [x], {"min": 2.0, "max": 1.0})
    (wanted,) = clip.CLIP.reference(site, [x])
    (found,) = run_kernel(clip.CLIP, clip.KERNELS[0], site, [x], folder=tmp_path)
    assert np.array_equal(found, wanted, equal_nan=True)
    assert found[:3].tolist() == [1, 1, 1]
