"""Knows what another runtime computes for a model, and how far what a runner computed agrees with it, node by node.
Does not know the runner.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from tilewright.comparison.drift import drifts_of
from tilewright.comparison.verdicts import Drift
from tilewright.errors import TilewrightError, toolchain_error
from tilewright.ir.graphs.graph import Graph
from tilewright.ir.graphs.model_formats import FormatRuntime, Reading

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

_MODULES = MappingProxyType({"onnxruntime": "onnxruntime", "onnx-reference": "onnx.reference"})
RUNTIMES = tuple(_MODULES)
_DEQUANTIZE_SINCE = 19  # the first operator set that onnx's reference has DequantizeLinear of
Run = Callable[[Mapping[str, "Array"]], Sequence["Array"]]
Values = Sequence[Mapping[str, "Array"]]


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
    internal = [name for node in proto.graph.node for name in node.output if name in names and name not in outputs]
    proto.graph.output.extend(onnx.ValueInfoProto(name=name) for name in internal)
    known = [value.name for value in proto.graph.output]
    open_run = _onnxruntime if runtime == "onnxruntime" else _onnx_reference
    try:
        run = open_run(proto)
        return [dict(zip(known, run(values), strict=True)) for values in sets]
    except TilewrightError:
        raise
    except Exception as error:  # neither has a base class for what it says of a model
        raise _cannot_run(runtime, error) from None


def values_of_format(
    runtime: FormatRuntime, model: bytes, reading: Reading, sets: Sequence[Mapping[str, Array]]
) -> list[dict[str, Array]]:
    """The same of a runtime that reads the file itself. TilewrightError TW7032 (exit 7) where it cannot run it."""
    try:
        result = [dict(values) for values in runtime.values(model, reading, sets)]
    except TilewrightError:
        raise
    except Exception as error:  # what it says of a model is its own
        raise _cannot_run(runtime.name, error) from None
    if len(result) != len(sets):
        raise _cannot_run(runtime.name, ValueError(f"it gave {len(result)} of {len(sets)} sets"))
    return result


def demand_runtime(runtime: str) -> None:
    """TilewrightError TW7031 (exit 7) where it is not installed, or cannot be imported."""
    demand_module(runtime, runtime, _MODULES[runtime])


def demand_module(runtime: str, package: str, module: str) -> None:
    """The same of any runtime: what pip installs, and what is then imported."""
    try:
        import_module(module)
    except ImportError as error:
        missing = isinstance(error, ModuleNotFoundError) and error.name == module
        raise toolchain_error(
            "TW7031",
            f"--against {runtime} needs {package}, which is not installed",
            details=() if missing else (f"it cannot be imported: {error}",),
            fix=(
                f"pip install {package}",
                "or compare with the reference of onnx, which lacks few operators: --against onnx-reference",
            ),
        ) from None


def _onnxruntime(proto: Any) -> Run:
    demand_runtime("onnxruntime")
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL  # every node as it is
    session = onnxruntime.InferenceSession(proto.SerializeToString(), options, providers=["CPUExecutionProvider"])
    wanted = [value.name for value in session.get_inputs()]
    return lambda values: session.run(None, {name: values[name] for name in wanted})


def _onnx_reference(proto: Any) -> Run:
    from onnx.reference import ReferenceEvaluator

    evaluator = ReferenceEvaluator(proto, new_ops=_later_operators(proto))
    wanted = evaluator.input_names
    return lambda values: list(evaluator.run(None, {name: values[name] for name in wanted if name in values}))


def _later_operators(proto: Any) -> list[Any]:
    """Operators that onnx has for later operator sets only, where they mean the same: DequantizeLinear before 19."""
    from onnx.reference.ops import op_dequantize_linear as implementations

    version = next((each.version for each in proto.opset_import if not each.domain), _DEQUANTIZE_SINCE)
    later = getattr(implementations, f"DequantizeLinear_{_DEQUANTIZE_SINCE}", None)
    if version >= _DEQUANTIZE_SINCE or later is None:
        return []

    def run(self: Any, *arrays: Any, axis: int = 1, **newer: Any) -> Any:  # attributes of the newest set
        del newer
        return later._run(self, *arrays, axis=axis)  # onnx calls what it runs so

    return [type("DequantizeLinear", (later,), {"op_domain": "", "_run": run})]


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


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeAgreement:
    """One value over all sets, against the same value of another runtime."""

    node: str
    op: str
    drift: Drift
    output: bool  # of the model


def agreements(graph: Graph, ours: Values, theirs: Values, *, rounds: bool) -> tuple[NodeAgreement, ...]:
    """Every value that both have with one type and shape, in the order of the nodes of `graph`. `rounds`: the model
    quantises, so that a rounding may fall otherwise.
    """
    names = [name for node in graph.nodes for name in node.outputs if _comparable(name, ours, theirs)]
    producer = graph.producer()
    return tuple(
        NodeAgreement(
            node=producer[drift.verdict.name].name,
            op=producer[drift.verdict.name].op,
            drift=drift,
            output=drift.verdict.name in graph.outputs,
        )
        for drift in drifts_of(graph, names, theirs, ours, rounds=rounds)
    )


def first_suspicious(compared: Sequence[NodeAgreement]) -> NodeAgreement | None:
    """The first node whose value is further from the other's than roundings may take it."""
    return next((agreement for agreement in compared if not agreement.drift.within), None)


def _comparable(name: str, ours: Values, theirs: Values) -> bool:
    return all(
        name in a and name in b and a[name].shape == b[name].shape and a[name].dtype == b[name].dtype
        for a, b in zip(ours, theirs, strict=True)
    )
