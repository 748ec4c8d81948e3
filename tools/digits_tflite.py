"""Write examples/digits/digits_int8.tflite: the network of digits_int8.onnx, with its integers and scales, as a file of
TensorFlow Lite. `python tools/digits_tflite.py`; TensorFlow is not needed.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper

ROOT = Path(__file__).resolve().parents[1]
DIGITS = ROOT / "examples" / "digits"
sys.path.insert(0, str(ROOT / "tests" / "kit"))

from flat_models import G, Op, T, constant, file_of

_SAME, _VALID, _RELU = 0, 1, 1  # numbers of the format
_CONV, _POOL, _DENSE, _SOFTMAX, _RESHAPE = 1, 5, 8, 9, 17  # of its kinds of options


def digits() -> bytes:
    """The file."""
    model = onnx.load(DIGITS / "digits_int8.onnx")
    read = {each.name: numpy_helper.to_array(each) for each in model.graph.initializer}
    tensors = [
        _value(read, "image", (1, 8, 8, 1)),
        *_layer(read, "conv1", (0, 2, 3, 1)),
        _value(read, "r1", (1, 8, 8, 8)),
        _value(read, "r1", (1, 4, 4, 8), "p1"),
        *_layer(read, "conv2", (0, 2, 3, 1)),
        _value(read, "r2", (1, 4, 4, 16)),
        _value(read, "r2", (1, 2, 2, 16), "p2"),
        constant(np.int32([1, 64]), "shape"),
        _value(read, "r2", (1, 64), "flat"),
        *_layer(read, "fc", (0, 1)),
        _value(read, "logits", (1, 10)),
        T(name="scores", shape=(1, 10), scale=(1 / 256,), zero=(-128,)),  # the only ones that the format allows
    ]
    one, two = ("<i", 1), ("<i", 2)
    conv = {"options": {0: ("<b", _SAME), 1: one, 2: one, 3: ("<b", _RELU)}, "kind": _CONV, "version": 3}
    pool = {"options": {0: ("<b", _VALID), 1: two, 2: two, 3: two, 4: two}, "kind": _POOL, "version": 2}
    ops = [
        Op(code="CONV_2D", inputs=(0, 1, 2), outputs=(3,), **conv),
        Op(code="MAX_POOL_2D", inputs=(3,), outputs=(4,), **pool),
        Op(code="CONV_2D", inputs=(4, 5, 6), outputs=(7,), **conv),
        Op(code="MAX_POOL_2D", inputs=(7,), outputs=(8,), **pool),
        Op(code="RESHAPE", inputs=(8, 9), outputs=(10,), options={}, kind=_RESHAPE),
        Op(code="FULLY_CONNECTED", inputs=(10, 11, 12), outputs=(13,), options={}, kind=_DENSE, version=4),
        Op(code="SOFTMAX", inputs=(13,), outputs=(14,), options={0: ("<f", 1.0)}, kind=_SOFTMAX, version=2),
    ]
    return file_of(G(tensors=tensors, ops=ops, inputs=(0,), outputs=(14,)))


def _value(read: dict[str, Any], quantised: str, shape: Sequence[int], name: str = "") -> T:
    scale, zero = float(read[f"{quantised}_scale"]), int(read[f"{quantised}_zero_point"])
    return T(name=name or quantised, shape=tuple(shape), scale=(scale,), zero=(zero,))


def _layer(read: dict[str, Any], layer: str, axes: Sequence[int]) -> tuple[T, T]:
    """Weights with channels last, and the bias."""
    weights, scales = read[f"{layer}.weight_quantized"], read[f"{layer}.weight_scale"]
    if layer == "fc":  # its columns are the elements of an image of 16 channels
        weights = weights.reshape(-1, 16, 2, 2).transpose(0, 2, 3, 1).reshape(weights.shape)
    bias, zeros = read[f"{layer}.bias_quantized"], (0,) * len(scales)
    return (
        constant(np.ascontiguousarray(weights.transpose(axes)), f"{layer}.weight", scale=tuple(scales), zero=zeros),
        constant(bias, f"{layer}.bias", scale=tuple(read[f"{layer}.bias_quantized_scale"]), zero=zeros),
    )


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__).parse_args()
    (DIGITS / "digits_int8.tflite").write_bytes(digits())
