"""Knows who else runs TensorFlow Lite files, where it is installed: the packages `tflite-micro` and `ai-edge-litert`.
Does not know what their kernels compute, nor how results are compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from tilewright.api.importer import Reading
from tilewright_tflite.importing import Tensors, tensors_of
from tilewright_tflite.network import CHANNELS_FIRST

if TYPE_CHECKING:
    import numpy.typing as npt
    from ai_edge_litert.interpreter import Interpreter

    Array = npt.NDArray[np.generic]
    Sets = Sequence[Mapping[str, Array]]

_SPARE = 1 << 20  # bytes of an arena for what an interpreter keeps beside tensors
_AROUND = 64  # and for each tensor


def micro_values(data: bytes, reading: Reading, sets: Sets) -> list[dict[str, Array]]:
    """Of every set the tensors that TensorFlow Lite for Microcontrollers computes, with its reference kernels."""
    from tflite_micro import runtime

    tensors = _first(tensors_of(data, reading))
    keeping = runtime.InterpreterConfig.kPreserveAllTensors
    interpreter = runtime.Interpreter.from_bytes(data, arena_size=_arena(data, tensors), intrepreter_config=keeping)
    result = []
    for values in sets:
        for place, (name, tensor) in enumerate(tensors.inputs.items()):
            interpreter.set_input(np.ascontiguousarray(values[name]).reshape(tensor.shape), place)
        interpreter.invoke()
        outputs = {name: interpreter.get_output(place) for place, name in enumerate(tensors.outputs)}
        inside = {name: computed.index for name, computed in tensors.computed.items() if name not in outputs}
        kept = {name: interpreter.GetTensor(index, 0)["tensor_data"] for name, index in inside.items()}
        result.append(_named(tensors, {**kept, **outputs}))
    return result


def _first(tensors: Tensors) -> Tensors:
    """ValueError for another network than the first one of a file: no interpreter is told of it."""
    if tensors.graph:
        raise ValueError("it runs the first network of a file, and no other one")
    return tensors


def _named(tensors: Tensors, values: Mapping[str, Array]) -> dict[str, Array]:
    """These values, and those that stand with channels first in the graph."""
    names = {tensor.index: name for name, tensor in {**tensors.computed, **tensors.outputs}.items() if name in values}
    turned = {name: names[tensor.index] for name, tensor in tensors.turned.items() if tensor.index in names}
    first = {name: values[last].transpose(CHANNELS_FIRST) for name, last in turned.items()}
    return {name: np.array(array) for name, array in {**values, **first}.items()}


def _arena(data: bytes, tensors: Tensors) -> int:
    """Bytes in which every tensor has its own place."""
    sizes = (int(np.prod(tensor.shape)) * 8 + _AROUND for tensor in tensors.computed.values())
    return sum(sizes) + len(data) + _SPARE


def litert_values(data: bytes, reading: Reading, sets: Sets) -> list[dict[str, Array]]:
    """Of every set the tensors that LiteRT computes with its own kernels."""
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    own = OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    interpreter = Interpreter(
        model_content=data, experimental_preserve_all_tensors=True, experimental_op_resolver_type=own
    )
    return _run(interpreter, _first(tensors_of(data, reading)), sets, inside=True)


def xnnpack_values(data: bytes, reading: Reading, sets: Sets) -> list[dict[str, Array]]:
    """Of every set the outputs of LiteRT as it comes, with XNNPACK, which keeps nothing inside."""
    from ai_edge_litert.interpreter import Interpreter

    return _run(Interpreter(model_content=data), _first(tensors_of(data, reading)), sets, inside=False)


def _run(interpreter: Interpreter, tensors: Tensors, sets: Sets, *, inside: bool) -> list[dict[str, Array]]:
    interpreter.allocate_tensors()
    wanted = {**(tensors.computed if inside else {}), **tensors.outputs}
    result = []
    for values in sets:
        for name, tensor in tensors.inputs.items():
            interpreter.set_tensor(tensor.index, np.ascontiguousarray(values[name]).reshape(tensor.shape))
        interpreter.invoke()
        result.append(
            _named(tensors, {name: interpreter.get_tensor(computed.index) for name, computed in wanted.items()})
        )
    return result
