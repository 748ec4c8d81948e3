"""Knows how onnxruntime and onnx's reference compute a model: the values of its nodes, by name, as far as asked for.
Does not know what is compared with them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tilewright.errors import TilewrightError, toolchain_error

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

RUNTIMES = ("onnxruntime", "onnx-reference")
Run = Callable[[Mapping[str, "Array"]], Sequence["Array"]]


def values_from(
    runtime: str, model: bytes, names: Collection[str], sets: Sequence[Mapping[str, Array]]
) -> list[dict[str, Array]]:
    """What `runtime` computes for each set of inputs: the model's outputs, and its values among `names`. The model has
    its tensors inside: no other file is read.

    TilewrightError (exit 7): TW7031 where it is not installed, TW7032 where it cannot run the model.
    """
    import onnx

    proto = onnx.ModelProto.FromString(model)
    outputs = {value.name for value in proto.graph.output}
    held = [name for node in proto.graph.node for name in node.output if name in names and name not in outputs]
    proto.graph.output.extend(onnx.ValueInfoProto(name=name) for name in held)
    known = [value.name for value in proto.graph.output]
    open_run = _onnxruntime if runtime == "onnxruntime" else _onnx_reference
    try:
        run = open_run(proto)
        return [dict(zip(known, run(values), strict=True)) for values in sets]
    except TilewrightError:
        raise
    except Exception as error:  # neither has a base class for what it says of a model
        raise _cannot_run(runtime, error) from None


def _onnxruntime(proto: Any) -> Run:
    try:
        import onnxruntime
    except ImportError:
        raise toolchain_error(
            "TW7031",
            "--against onnxruntime needs onnxruntime, which is not installed",
            fix=("pip install onnxruntime", "or compare with onnx-reference, which is always there"),
        ) from None
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL  # every node as it is
    session = onnxruntime.InferenceSession(proto.SerializeToString(), options, providers=["CPUExecutionProvider"])
    wanted = [one.name for one in session.get_inputs()]
    return lambda values: session.run(None, {name: values[name] for name in wanted})


def _onnx_reference(proto: Any) -> Run:
    from onnx.reference import ReferenceEvaluator

    evaluator = ReferenceEvaluator(proto)
    wanted = evaluator.input_names
    return lambda values: list(evaluator.run(None, {name: values[name] for name in wanted if name in values}))


def _cannot_run(runtime: str, error: Exception) -> TilewrightError:
    lines = str(error).strip().splitlines()
    return toolchain_error(
        "TW7032",
        f"{runtime} cannot run this model",
        details=(lines[0] if lines else type(error).__name__,),
        fix=(
            f"compare with the other one: --against {next(other for other in RUNTIMES if other != runtime)}",
            "where it is about the inputs: bring some that the model takes, --io FILE.npz",
        ),
    )
