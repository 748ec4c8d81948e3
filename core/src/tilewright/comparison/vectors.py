"""Knows test vectors: npz files with keys `setK/in/TENSOR` and `setK/out/TENSOR`, and random ones. Real values of a
quantised tensor become what it stores, with the reference of QuantizeLinear itself. Does not know what is compared.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import dropwhile
from pathlib import Path
from typing import TYPE_CHECKING

from tilewright.comparison.reference import run_site
from tilewright.errors import TilewrightError, usage_error
from tilewright.ir.graphs.graph import Graph, Node, Site, Tensor
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.tensors.dtypes import DType

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorSet:
    """One inference: inputs by tensor name, and what is expected, where that is known."""

    inputs: Mapping[str, Array] = field(compare=False)
    outputs: Mapping[str, Array] = field(compare=False)


def read_vectors(
    file: Path, inputs: Mapping[str, Tensor], outputs: Mapping[str, Tensor], operators: Mapping[str, Operator]
) -> tuple[VectorSet, ...]:
    """The sets of an npz file, checked against the model's inputs and outputs. Real values of a quantised tensor become
    what it stores.

    Raises TilewrightError TW6001 (exit 2) that says which key, type or shape is wrong.
    """
    arrays = _arrays(file)

    def fitting(key: str, tensor: Tensor) -> Array:
        return _fitting(arrays, key, tensor, file, operators)

    names = sorted({key.split("/", 1)[0] for key in arrays if "/in/" in key})
    if not names:
        raise usage_error(
            "TW6001",
            "the file has no test vectors",
            where=str(file),
            details=(f"its keys are: {', '.join(sorted(arrays)[:6]) or 'none'}",),
            fix=("name the arrays setK/in/TENSOR and setK/out/TENSOR, K = 0, 1, ...",),
        )
    return tuple(
        VectorSet(
            inputs={key: fitting(f"{name}/in/{key}", tensor) for key, tensor in inputs.items()},
            outputs={
                key: fitting(f"{name}/out/{key}", tensor)
                for key, tensor in outputs.items()
                if f"{name}/out/{key}" in arrays
            },
        )
        for name in names
    )


def read_outputs(
    file: Path, sets: int, outputs: Mapping[str, Tensor], operators: Mapping[str, Operator]
) -> tuple[Mapping[str, Array], ...]:
    """What an npz file expects of the sets 0, 1, ... whose inputs are elsewhere: keys setK/out/TENSOR.

    Raises TilewrightError TW6001 (exit 2) that says which key, type or shape is wrong.
    """
    arrays = _arrays(file)
    result = tuple(
        {
            name: _fitting(arrays, f"set{number}/out/{name}", tensor, file, operators)
            for name, tensor in outputs.items()
            if f"set{number}/out/{name}" in arrays
        }
        for number in range(sets)
    )
    if not all(result):
        raise usage_error(
            "TW6001",
            f"the file has no expected values for set {result.index({})}",
            where=str(file),
            details=(f"its keys are: {', '.join(sorted(arrays)[:6]) or 'none'}",),
            fix=("name the arrays setK/out/TENSOR, K = 0, 1, ..., TENSOR a value of the model",),
        )
    return result


def has_inputs(file: Path) -> bool:
    """Whether an npz file brings inputs. Raises TilewrightError TW6001 (exit 2) where it cannot be read."""
    return any("/in/" in key for key in _arrays(file))


def _arrays(file: Path) -> dict[str, Array]:
    import numpy as np

    try:
        archive = np.load(file, allow_pickle=False)
        return {key: archive[key] for key in archive.files}
    except (OSError, ValueError, EOFError, AttributeError, KeyError, zipfile.BadZipFile, zlib.error) as error:
        raise usage_error(
            "TW6001",
            "cannot read the test vectors",
            where=str(file),
            details=(str(error).splitlines()[0] if str(error) else type(error).__name__,),
            fix=("make them with numpy.savez: keys setK/in/TENSOR and setK/out/TENSOR",),
        ) from None


def random_vectors(
    inputs: Mapping[str, Tensor], count: int, seed: int, graph: Graph | None = None
) -> tuple[VectorSet, ...]:
    """Uniform integers over the whole type, standard normal floats; the same for the same seed. Inputs that `graph`
    takes elements by are indices that there are: others would all stand for the first or the last element.
    """
    import numpy as np

    generator = np.random.default_rng(seed)
    indices = _index_limits(graph) if graph is not None else {}

    def draw(name: str, tensor: Tensor) -> Array:
        if tensor.dtype.is_float:
            return np.asarray(generator.standard_normal(tensor.shape), tensor.dtype.numpy)
        low, high = indices.get(name, tensor.dtype.limits)
        return np.asarray(generator.integers(low, high, tensor.shape, tensor.dtype.numpy, endpoint=True))

    return tuple(
        VectorSet(inputs={name: draw(name, tensor) for name, tensor in inputs.items()}, outputs={})
        for _ in range(count)
    )


def _index_limits(graph: Graph) -> dict[str, tuple[int, int]]:
    """The least and the largest index that an input may hold, negative ones from the end, by its name."""
    limits: dict[str, tuple[int, int]] = {}
    for node in graph.nodes:
        if node.op == "Gather" and node.inputs[1] in graph.inputs:
            extent = max(1, graph.tensors[node.inputs[0]].shape[node.integer("axis")])
            known = limits.get(node.inputs[1], (-extent, extent - 1))
            limits[node.inputs[1]] = max(known[0], -extent), min(known[1], extent - 1)
    return limits


def _fitting(
    arrays: Mapping[str, Array], key: str, tensor: Tensor, file: Path, operators: Mapping[str, Operator]
) -> Array:
    if key not in arrays:
        raise usage_error(
            "TW6001",
            f"the test vectors lack '{key}'",
            where=str(file),
            details=(f"their keys are: {', '.join(sorted(arrays)[:6])}",),
            fix=("name the arrays setK/in/TENSOR and setK/out/TENSOR, as the model does",),
        )
    array = arrays[key]
    if tensor.dtype is DType.BF16 and array.dtype == "V2":  # what numpy saves of them
        array = array.view(tensor.dtype.numpy)
    real = stores_real(tensor, array)
    if not _same_shape(array.shape, tensor.shape) or not (real or array.dtype == tensor.dtype.numpy):
        raise _unfit(key, array, tensor, file)
    array = array.reshape(tensor.shape)
    return quantised(tensor, array, operators) if real else array


def _same_shape(shape: Sequence[int], other: Sequence[int]) -> bool:
    """Whether two shapes are the same, but for extents of 1 in front."""
    return _without_ones(shape) == _without_ones(other)


def _without_ones(shape: Sequence[int]) -> tuple[int, ...]:
    return tuple(dropwhile(lambda extent: extent == 1, shape))


def _unfit(key: str, array: Array, tensor: Tensor, file: Path) -> TilewrightError:
    wanted = f"{tensor.dtype.numpy}{list(tensor.shape)}"
    details = [f"it is {array.dtype}{list(array.shape)}, '{tensor.name}' is {wanted}"]
    fix = f"save it as {wanted}, or check --dim"
    for here, there, order in _orders_of_channels(array.ndim) if array.ndim <= len(tensor.shape) else ():
        if _same_shape([array.shape[axis] for axis in order], tensor.shape):
            details.append(f"it seems to have its {here}, where the model has its {there}: nothing is moved for you")
            fix = f"save it transposed: array.transpose{order}"
            break
    return usage_error("TW6001", f"'{key}' does not fit the model", where=str(file), details=tuple(details), fix=(fix,))


def _orders_of_channels(rank: int) -> tuple[tuple[str, str, tuple[int, ...]], ...]:
    """What an array may have its channels as, what the model has then, and the permutation from one to the other: with
    a batch in front and without.
    """
    last, first = "channels last (NHWC)", "channels first (NCHW)"
    batched, whole = range(1, rank), range(rank)
    if rank < 3:
        return ()
    return (
        (last, first, (0, batched[-1], *batched[:-1])),
        (first, last, (0, *batched[1:], batched[0])),
        (last, first, (whole[-1], *whole[:-1])),
        (first, last, (*whole[1:], whole[0])),
    )


def stores_real(tensor: Tensor, array: Array) -> bool:
    """Whether `array` holds real values of a tensor that stores integers with one scale."""
    return array.dtype == "float32" and tensor.quantization is not None and len(tensor.quantization.scale) == 1


def quantised(tensor: Tensor, real: Array, operators: Mapping[str, Operator]) -> Array:
    """What `tensor`, which has a quantisation for the whole of it, stores for these values. TW9020 where the vocabulary
    has no QuantizeLinear.
    """
    import numpy as np

    if tensor.quantization is None:
        raise ValueError(f"{tensor.name} is not quantised")
    scale = np.array(tensor.quantization.scale[0], np.float32)
    zero = np.array(tensor.quantization.zero_point[0], tensor.dtype.numpy)
    node = Node(
        name=tensor.name,
        op="QuantizeLinear",
        inputs=("real", "scale", "zero"),
        outputs=(tensor.name,),
        attributes={"to": tensor.dtype.value},
    )
    site = Site(
        node=node,
        inputs=(
            Tensor(name="real", dtype=DType.F32, shape=tuple(real.shape)),
            Tensor(name="scale", dtype=DType.F32, shape=()),
            Tensor(name="zero", dtype=tensor.dtype, shape=()),
        ),
        outputs=(tensor,),
        constants={"scale": scale, "zero": zero},
    )
    return run_site(site, (real, scale, zero), operators)[0]
