"""Train a small convolutional network on scikit-learn's digits, export it to ONNX, quantise it with onnxruntime.

    pip install numpy scikit-learn onnx onnxruntime
    python train.py                     writes digits_f32.onnx, digits_int8.onnx and digits_test.npz beside itself

Plain numpy, one seed, no clock: the same versions give the same files. Takes a few seconds.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

HERE = Path(__file__).resolve().parent
CHANNELS = (1, 8, 16)
CLASSES = 10
EPOCHS = 40
BATCH = 32

Array = np.ndarray
Parameters = dict[str, Array]


def main() -> None:
    """Data, training, export, quantisation."""
    digits = load_digits()
    images = (digits.images[:, None] / 16.0).astype(np.float32)  # [N, 1, 8, 8] in 0..1
    split = train_test_split(images, digits.target, test_size=360, random_state=0, stratify=digits.target)
    train_images, test_images, train_labels, test_labels = split
    parameters = train(train_images, train_labels, np.random.default_rng(0))
    accuracy = np.mean(forward(test_images, parameters)[-1].argmax(1) == test_labels)
    print(f"accuracy on {len(test_labels)} test images: {100 * accuracy:.2f} %")
    onnx.save(to_onnx(parameters), HERE / "digits_f32.onnx")
    quantise(HERE / "digits_f32.onnx", HERE / "digits_int8.onnx", train_images[:200])
    np.savez_compressed(HERE / "digits_test.npz", images=test_images, labels=test_labels.astype(np.uint8))


def columns(images: Array) -> Array:
    """3x3 windows with one row and column of zeros around: [N, C, H, W] -> [N, C * 9, H * W]."""
    count, channels, height, width = images.shape
    padded = np.pad(images, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))
    return windows.transpose(0, 1, 4, 5, 2, 3).reshape(count, channels * 9, height * width)


def convolve(images: Array, weight: Array, bias: Array) -> Array:
    """Conv 3x3, padding 1."""
    count, _, height, width = images.shape
    result = np.einsum("ok,nkp->nop", weight.reshape(len(weight), -1), columns(images), optimize=True)
    return (result + bias[:, None]).reshape(count, len(weight), height, width)


def pool(images: Array) -> Array:
    """MaxPool 2x2."""
    count, channels, height, width = images.shape
    return images.reshape(count, channels, height // 2, 2, width // 2, 2).max((3, 5))


def forward(images: Array, p: Parameters) -> tuple[Array, ...]:
    """Every intermediate value: conv1, pool1, conv2, pool2, logits."""
    first = np.maximum(convolve(images, p["conv1.weight"], p["conv1.bias"]), 0)
    small = pool(first)
    second = np.maximum(convolve(small, p["conv2.weight"], p["conv2.bias"]), 0)
    tiny = pool(second)
    logits = tiny.reshape(len(images), -1) @ p["fc.weight"].T + p["fc.bias"]
    return first, small, second, tiny, logits


def gradients(images: Array, labels: Array, p: Parameters) -> Parameters:
    """Of the mean cross entropy."""
    first, small, second, tiny, logits = forward(images, p)
    shifted = np.exp(logits - logits.max(1, keepdims=True))
    error = shifted / shifted.sum(1, keepdims=True)
    error[np.arange(len(labels)), labels] -= 1
    error /= len(labels)
    flat = tiny.reshape(len(images), -1)
    result = {"fc.weight": error.T @ flat, "fc.bias": error.sum(0)}
    back = (error @ p["fc.weight"]).reshape(tiny.shape)
    back = unpool(back, tiny, second) * (second > 0)
    result["conv2.weight"], result["conv2.bias"] = weight_gradient(small, back, p["conv2.weight"])
    flipped = p["conv2.weight"][:, :, ::-1, ::-1].transpose(1, 0, 2, 3)
    back = convolve(back, flipped, np.zeros(len(flipped)))
    back = unpool(back, small, first) * (first > 0)
    result["conv1.weight"], result["conv1.bias"] = weight_gradient(images, back, p["conv1.weight"])
    return result


def unpool(error: Array, pooled: Array, full: Array) -> Array:
    """The gradient goes where the maximum was."""
    spread = error.repeat(2, 2).repeat(2, 3)
    return spread * (full == pooled.repeat(2, 2).repeat(2, 3))


def weight_gradient(images: Array, error: Array, weight: Array) -> tuple[Array, Array]:
    """Of a 3x3 convolution."""
    flat = error.reshape(*error.shape[:2], -1)
    return np.einsum("nop,nkp->ok", flat, columns(images), optimize=True).reshape(weight.shape), flat.sum((0, 2))


def train(images: Array, labels: Array, generator: np.random.Generator) -> Parameters:
    """Adam, learning rate falling to zero."""
    p = {
        "conv1.weight": generator.normal(0, np.sqrt(2 / 9), (CHANNELS[1], CHANNELS[0], 3, 3)),
        "conv1.bias": np.zeros(CHANNELS[1]),
        "conv2.weight": generator.normal(0, np.sqrt(2 / (9 * CHANNELS[1])), (CHANNELS[2], CHANNELS[1], 3, 3)),
        "conv2.bias": np.zeros(CHANNELS[2]),
        "fc.weight": generator.normal(0, np.sqrt(1 / (4 * CHANNELS[2])), (CLASSES, 4 * CHANNELS[2])),
        "fc.bias": np.zeros(CLASSES),
    }
    mean = {name: np.zeros_like(value) for name, value in p.items()}
    square = {name: np.zeros_like(value) for name, value in p.items()}
    steps = EPOCHS * (len(images) // BATCH)
    step = 0
    for _ in range(EPOCHS):
        order = generator.permutation(len(images))
        for start in range(0, len(images) - BATCH + 1, BATCH):
            chosen = order[start : start + BATCH]
            step += 1
            rate = 3e-3 * (1 - step / (steps + 1))
            for name, gradient in gradients(images[chosen], labels[chosen], p).items():
                mean[name] = 0.9 * mean[name] + 0.1 * gradient
                square[name] = 0.999 * square[name] + 0.001 * gradient**2
                direction = mean[name] / (1 - 0.9**step)
                p[name] = p[name] - rate * direction / (np.sqrt(square[name] / (1 - 0.999**step)) + 1e-8)
    return {name: value.astype(np.float32) for name, value in p.items()}


def to_onnx(p: Parameters) -> onnx.ModelProto:
    """The network as an exporter would write it: NCHW, opset 17, batch 1."""
    convolution = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}
    pooling = {"kernel_shape": [2, 2], "strides": [2, 2]}
    nodes = [
        helper.make_node("Conv", ["image", "conv1.weight", "conv1.bias"], ["c1"], "conv1", **convolution),
        helper.make_node("Relu", ["c1"], ["r1"], "relu1"),
        helper.make_node("MaxPool", ["r1"], ["p1"], "pool1", **pooling),
        helper.make_node("Conv", ["p1", "conv2.weight", "conv2.bias"], ["c2"], "conv2", **convolution),
        helper.make_node("Relu", ["c2"], ["r2"], "relu2"),
        helper.make_node("MaxPool", ["r2"], ["p2"], "pool2", **pooling),
        helper.make_node("Flatten", ["p2"], ["flat"], "flatten"),
        helper.make_node("Gemm", ["flat", "fc.weight", "fc.bias"], ["logits"], "fc", transB=1),
        helper.make_node("Softmax", ["logits"], ["scores"], "softmax", axis=1),
    ]
    graph = helper.make_graph(
        nodes,
        "digits",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 1, 8, 8])],
        [helper.make_tensor_value_info("scores", TensorProto.FLOAT, [1, CLASSES])],
        [numpy_helper.from_array(value, name) for name, value in p.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    return model


class Calibration(CalibrationDataReader):
    """The training images that set the ranges, one by one."""

    def __init__(self, images: Array) -> None:
        self.images = iter(images)

    def get_next(self) -> dict[str, Array] | None:
        """The next feed, or None."""
        image = next(self.images, None)
        return None if image is None else {"image": image[None]}


def quantise(source: Path, target: Path, images: Array) -> None:
    """Static QDQ quantisation: int8 activations, int8 weights for each channel."""
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "quantised.onnx"
        quantize_static(
            source,
            result,
            Calibration(images),
            quant_format=QuantFormat.QDQ,
            per_channel=True,
            activation_type=QuantType.QInt8,
            weight_type=QuantType.QInt8,
        )
        target.write_bytes(result.read_bytes())


if __name__ == "__main__":
    main()
