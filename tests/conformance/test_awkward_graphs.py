"""Graphs that nobody draws and tools write: outputs that depend on no input, scalars, tensors without elements.
Compiled to C and compared with onnx's reference evaluator.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import MappingProxyType

import numpy as np
import numpy.typing as npt
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from conformance.batch import PASS, run_batch
from conformance.cases import Case

Array = npt.NDArray[np.generic]
Shape = tuple[int, ...]
node = helper.make_node
relu = node("Relu", ["x"], ["y"])


def numbers(*shape: int) -> Array:
    return np.random.default_rng(sum(shape)).standard_normal(shape, np.float32)


def integers(*shape: int) -> Array:
    return np.random.default_rng(sum(shape)).integers(-9, 9, shape, np.int8)


STEP, ZERO = np.float32(0.1), np.int8(3)
QUANTISED = {"s": STEP, "wide": np.float32(0.37), "o": ZERO, "a": integers(2, 3), "w": integers(3, 4)}
DEQUANTISED = (
    node("DequantizeLinear", ["a", "s", "o"], ["real_a"]),
    node("DequantizeLinear", ["w", "s", "o"], ["real_w"]),
)


def made(
    name: str,
    nodes: Sequence[onnx.NodeProto],
    constants: dict[str, Array],
    *,
    inputs: dict[str, Shape] = MappingProxyType({"x": (2, 3)}),
    outputs: Sequence[str] = ("y", "z"),
) -> Case:
    ins = [helper.make_tensor_value_info(key, TensorProto.FLOAT, shape) for key, shape in inputs.items()]
    held = [numpy_helper.from_array(np.asarray(array), key) for key, array in constants.items()]
    ends = [helper.make_empty_tensor_value_info(key) for key in outputs]
    graph = helper.make_graph(nodes, name, ins, ends, held)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9)
    given = {key: numbers(*shape) for key, shape in inputs.items()}
    results = tuple(np.asarray(array) for array in ReferenceEvaluator(model).run(None, given))
    return Case(
        name=name,
        operator=name,
        tier=1,
        opset=19,
        expanded=False,
        baked=False,
        model=model.SerializeToString(),
        inputs=given,
        outputs=results,
        relative=1e-5,
        absolute=1e-6,
    )


def constant_outputs() -> list[Case]:
    image, column = numbers(1, 1, 4, 4), numbers(2)
    return [
        made("shape", [relu, node("Shape", ["x"], ["z"])], {}),
        made("count", [relu, node("Size", ["x"], ["z"])], {}),
        made("initialiser", [relu], {"z": numbers(3)}),
        made("read as well", [node("Add", ["x", "z"], ["y"])], {"z": numbers(3)}),
        made("one twice", [node("Identity", ["c"], ["y"]), node("Identity", ["c"], ["z"])], {"c": column}, inputs={}),
        made("product", [relu, node("Gemm", ["a", "b"], ["z"])], {"a": numbers(2, 3), "b": numbers(3, 4)}),
        made("no input", [node("MatMul", ["a", "b"], ["y"])], {"a": numbers(2, 3), "b": numbers(3, 4)}, inputs={},
             outputs=("y",)),
        made("image", [relu, node("Conv", ["a", "w"], ["z"])], {"a": image, "w": numbers(2, 1, 3, 3)}),
        made("transposed", [relu, node("ConvTranspose", ["a", "w"], ["z"])], {"a": image, "w": numbers(1, 2, 3, 3)}),
        made("normalised", [relu, node("BatchNormalization", ["a", "c", "c", "c", "v"], ["z"])],
             {"a": numbers(1, 2, 3), "c": column, "v": np.ones(2, np.float32)}),
        made("dequantised", [relu, *DEQUANTISED], QUANTISED, outputs=("y", "real_a", "real_w")),
        made("integer product", [relu, *DEQUANTISED, node("Gemm", ["real_a", "real_w"], ["p"]),
                                 node("QuantizeLinear", ["p", "wide", "o"], ["z"])], QUANTISED),
        made("integer softmax", [relu, DEQUANTISED[0], node("Softmax", ["real_a"], ["p"]),
                                 node("QuantizeLinear", ["p", "wide", "o"], ["z"])], QUANTISED),
        made("one piece is used", [node("Split", ["c"], ["z", "w"], num_outputs=2), node("Add", ["x", "w"], ["y"])],
             {"c": numbers(6)}),
    ]  # fmt: skip


def scalars() -> list[Case]:
    two = np.float32(2)
    added = node("Add", ["x", "t"], ["y"])
    unary = [
        made(f"scalar {op}", [node(op, ["c"], ["t"]), added], {"c": two}, outputs=("y",))
        for op in ("Relu", "Sqrt", "Sigmoid")
    ]
    limits = {"low": np.float32(0), "high": np.float32(1)}
    through = [node("QuantizeLinear", ["c", "s", "o"], ["q"]), node("DequantizeLinear", ["q", "s", "o"], ["t"])]
    return [
        *unary,
        made("scalar Clip", [node("Clip", ["c", "low", "high"], ["t"]), added], {"c": two, **limits}, outputs=("y",)),
        made("scalar QDQ", [*through, added], {"c": two, "s": STEP, "o": ZERO}, outputs=("y",)),
        made("scalar bias", [node("Gemm", ["x", "w", "b"], ["y"])], {"w": numbers(3, 4), "b": two}, outputs=("y",)),
    ]


def scalar_inputs() -> list[Case]:
    """Operators of one operand that are written with others: a scalar stays one."""
    whole = node("Cast", ["x"], ["i"], to=TensorProto.INT32)
    floats = ("Celu", "HardSwish", "IsInf", "IsNaN", "Mish", "Selu", "Shrink", "ThresholdedRelu")
    return [
        *(made(op, [node(op, ["x"], ["y"])], {}, inputs={"x": ()}, outputs=("y",)) for op in floats),
        made("BitwiseNot", [whole, node("BitwiseNot", ["i"], ["y"])], {}, inputs={"x": ()}, outputs=("y",)),
    ]


def wide_limits() -> list[Case]:
    """64-bit integers beside limits that a double does not hold."""
    odd, wide = (1 << 53) + 1, node("Cast", ["x"], ["i"], to=TensorProto.INT64)
    spread = [wide, node("Mul", ["i", "far"], ["w"])]
    return [
        made("low", [*spread, node("Clip", ["w", "low"], ["y"])], {"far": np.int64(1 << 52), "low": np.int64(odd)},
             outputs=("y",)),
        made("high", [*spread, node("Clip", ["w", "", "high"], ["y"])], {"far": np.int64(1 << 52),
             "high": np.int64(-odd)}, outputs=("y",)),
        made("none", [*spread, node("Clip", ["w"], ["y"])], {"far": np.int64(1 << 52)}, outputs=("y",)),
    ]  # fmt: skip


def without_elements() -> list[Case]:
    none = {"e": numbers(2, 0)}
    return [
        made("nothing joined", [node("Concat", ["x", "e"], ["y"], axis=1)], none, outputs=("y",)),
        made("nothing added", [node("Add", ["x", "e"], ["y"])], none, inputs={"x": (2, 1)}, outputs=("y",)),
        made("nothing given", [relu], {}, inputs={"x": (2, 0)}, outputs=("y",)),
        made("nothing summed", [node("ReduceSum", ["x"], ["y"])], {}, inputs={"x": (2, 0)}, outputs=("y",)),
        made("nothing constant", [relu, node("Sigmoid", ["e"], ["z"])], none),
        made("no columns", [node("MatMul", ["x", "e"], ["y"])], {"e": numbers(3, 0)}, outputs=("y",)),
        made("no terms", [node("MatMul", ["x", "e"], ["y"])], {"e": numbers(0, 4)}, inputs={"x": (2, 0)},
             outputs=("y",)),
        made("no terms of Gemm", [node("Gemm", ["x", "e"], ["y"])], {"e": numbers(0, 4)}, inputs={"x": (2, 0)},
             outputs=("y",)),
    ]  # fmt: skip


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    "cases", [constant_outputs, scalars, scalar_inputs, wide_limits, without_elements], ids=lambda cases: cases.__name__
)
def test_awkward_graphs(cases, tool, tmp_path: Path) -> None:
    tool("cc")
    outcomes = run_batch(cases(), tmp_path)
    assert {name: (each.status, each.reason) for name, each in outcomes.items() if each.status != PASS} == {}
