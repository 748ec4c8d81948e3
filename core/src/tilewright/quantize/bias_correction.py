"""Knows what coarse weights shift a layer's results by on the mean, which its bias takes back: the error of each weight
times the mean of what it is multiplied with. Does not know how weights are made coarse.

Nagel and others, Data-Free Quantization Through Weight Equalization and Bias Correction, ICCV 2019, section 4.2; means
are those of the float network on the samples. Pixels that a window takes from outside count as if they were inside.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tilewright.quantize.output_noise import outputs_of

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]
    Doubles = npt.NDArray[np.float64]

_CHANNEL = {"Conv": 1, "Gemm": -1}  # the axis of the input whose elements have weights of their own


def input_means(prepared: Path, samples: Sequence[Mapping[str, Array]]) -> Mapping[str, Doubles]:
    """Of every Conv and Gemm of the float network that has a bias, by name, the mean of each channel that it reads."""
    import onnx

    model = onnx.load(prepared)
    layers = {node.name: node for node in model.graph.node if node.op_type in _CHANNEL and len(node.input) > 2}
    read = list(dict.fromkeys(node.input[0] for node in layers.values()))
    inputs = {value.name for value in model.graph.input}
    del model.graph.output[:]
    model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in read if name not in inputs)
    shown = prepared.with_name("means.onnx")
    onnx.save(model, shown)
    names, runs = outputs_of(shown, samples) if len(model.graph.output) else ([], [[] for _ in samples])
    values = [{**dict(zip(names, run, strict=True)), **sample} for run, sample in zip(runs, samples, strict=True)]
    return {
        name: np.mean([_means(sample[node.input[0]], _CHANNEL[node.op_type]) for sample in values], axis=0)
        for name, node in layers.items()
    }


def shift_of(node: Any, error: Doubles, means: Doubles) -> Doubles:
    """What `error` (float weights less coarse ones) takes from the mean of each output channel of a Conv or Gemm."""
    numbers = {attribute.name: attribute.i for attribute in node.attribute}
    if node.op_type == "Gemm":
        return np.asarray(error @ means if numbers.get("transB", 0) else means @ error)
    groups = numbers.get("group", 1)
    each = error.reshape(groups, len(error) // groups, error.shape[1], -1).sum(axis=-1)
    return np.asarray(np.einsum("goi,gi->go", each, means.reshape(groups, -1)).reshape(-1))


def _means(array: Array, axis: int) -> Doubles:
    values = np.moveaxis(array.astype(np.float64), axis, -1)
    return np.asarray(values.reshape(-1, values.shape[-1]).mean(axis=0))
