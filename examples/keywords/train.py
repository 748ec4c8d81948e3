"""Train a small depthwise separable network on made-up keywords, and export it to ONNX.

    pip install numpy onnx
    python train.py                     writes keywords_f32.onnx and keywords_test.npz beside itself

A keyword is a row of three sounds, a sound is two bands that are loud; speakers differ in pitch, tempo and loudness,
and there is noise. What the network reads is what a front end of a keyword spotter makes: 32 moments of 16 bands, in
steps of 1/16. Plain numpy, one seed, no clock: the same versions give the same files. Takes about a minute.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

HERE = Path(__file__).resolve().parent
MOMENTS, BANDS = 32, 16
KEYWORDS = 10
SOUNDS = 6
TRAINED, TESTED = 3000, 360
STEPS = 16  # of the front end in 1
EPOCHS, BATCH = 14, 32

Array = np.ndarray
Parameters = dict[str, Array]
Step = Callable[[Array, Parameters], Array]  # the error of a result -> of what it was made from; gradients beside


def main() -> None:
    """Data, training, export."""
    generator = np.random.default_rng(0)
    sounds = np.stack([np.sort(generator.choice(BANDS - 2, 2, replace=False)) + 1 for _ in range(SOUNDS)])
    words = np.stack([generator.choice(SOUNDS, 3, replace=False) for _ in range(KEYWORDS)])
    images, labels = spoken(TRAINED + TESTED, sounds, words, generator)
    parameters = train(images[:TRAINED], labels[:TRAINED], generator)
    found = forward(images[TRAINED:], parameters)[0].argmax(1)
    print(f"accuracy on {TESTED} test samples: {100 * np.mean(found == labels[TRAINED:]):.2f} %")
    onnx.save(to_onnx(parameters), HERE / "keywords_f32.onnx")
    steps = np.rint(STEPS * images[TRAINED:]).astype(np.int8)
    np.savez_compressed(HERE / "keywords_test.npz", steps=steps, labels=labels[TRAINED:].astype(np.uint8))


def spoken(count: int, sounds: Array, words: Array, generator: np.random.Generator) -> tuple[Array, Array]:
    """Samples [count, 1, MOMENTS, BANDS] in -8..8, and which keyword each is."""
    labels = generator.integers(KEYWORDS, size=count)
    images = np.empty((count, 1, MOMENTS, BANDS), np.float32)
    bands = np.arange(BANDS)
    for sample, label in enumerate(labels):
        lengths = generator.uniform(0.7, 1.3, 3) * generator.uniform(5, 9)
        ends = np.cumsum(lengths) + generator.uniform(0, max(1.0, MOMENTS - 1.2 * lengths.sum()))
        pitch, loud = generator.normal(0, 0.7), generator.uniform(0.8, 2.0)
        spectrum = np.zeros((MOMENTS, BANDS))
        for sound, length, end in zip(words[label], lengths, ends, strict=True):
            moments = np.arange(MOMENTS)
            when = np.clip(np.minimum(moments - (end - length), end - moments) + 0.5, 0, 1)
            loudest = sounds[sound] + pitch
            what = np.exp(-(((bands[:, None] - loudest) / 0.9) ** 2)).sum(1)
            spectrum += when[:, None] * what * generator.uniform(0.6, 1.2)
        images[sample, 0] = loud * spectrum + generator.normal(0, 0.55, spectrum.shape)
    return np.clip(np.rint(STEPS * images), -128, 127) / np.float32(STEPS), labels


def columns(images: Array) -> Array:
    """3x3 windows with one row and column of zeros around: [N, C, H, W] -> [N, C, 9, H * W]."""
    count, channels, height, width = images.shape
    padded = np.pad(images, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))
    return windows.transpose(0, 1, 4, 5, 2, 3).reshape(count, channels, 9, height * width)


def convolved(images: Array, p: Parameters, name: str) -> tuple[Array, Step]:
    """Conv 3x3, padding 1, Relu: dense where the weight has channels inside, else depthwise."""
    weight, bias = p[f"{name}.weight"], p[f"{name}.bias"]
    shape, inside = images.shape, columns(images)
    flat = weight.reshape(*weight.shape[:2], 9)
    rule = "nckp,ock->nop" if weight.shape[1] == shape[1] and len(weight) != weight.shape[1] else "nckp,cok->ncp"
    made = np.einsum(rule, inside, flat, optimize=True) + bias[:, None]
    result = np.maximum(made, 0).reshape(shape[0], len(weight), *shape[2:])

    def back(error: Array, gradients: Parameters) -> Array:
        error = error.reshape(made.shape) * (made > 0)
        whole = error.reshape(result.shape)
        gradients[f"{name}.bias"] = error.sum((0, 2))
        if rule.endswith("nop"):
            gradients[f"{name}.weight"] = np.einsum("nop,nckp->ock", error, inside, optimize=True).reshape(weight.shape)
            turned = flat[:, :, ::-1]
            spread = np.einsum("nokp,ock->ncp", columns(whole), turned, optimize=True)
        else:
            gradients[f"{name}.weight"] = np.einsum("ncp,nckp->ck", error, inside, optimize=True).reshape(weight.shape)
            spread = np.einsum("nckp,cok->ncp", columns(whole), flat[:, :, ::-1], optimize=True)
        return spread.reshape(shape)

    return result, back


def mixed(images: Array, p: Parameters, name: str) -> tuple[Array, Step]:
    """Conv 1x1, Relu."""
    weight, bias = p[f"{name}.weight"][:, :, 0, 0], p[f"{name}.bias"]
    made = np.einsum("nchw,oc->nohw", images, weight, optimize=True) + bias[:, None, None]

    def back(error: Array, gradients: Parameters) -> Array:
        error = error * (made > 0)
        gradients[f"{name}.bias"] = error.sum((0, 2, 3))
        gradients[f"{name}.weight"] = np.einsum("nohw,nchw->oc", error, images, optimize=True)[:, :, None, None]
        return np.einsum("nohw,oc->nchw", error, weight, optimize=True)

    return np.maximum(made, 0), back


def pooled(images: Array) -> tuple[Array, Step]:
    """MaxPool 2x2; the gradient goes where the maximum was."""
    count, channels, height, width = images.shape
    result = images.reshape(count, channels, height // 2, 2, width // 2, 2).max((3, 5))

    def back(error: Array, gradients: Parameters) -> Array:
        return error.repeat(2, 2).repeat(2, 3) * (images == result.repeat(2, 2).repeat(2, 3))

    return result, back


def classified(images: Array, p: Parameters) -> tuple[Array, Step]:
    """The mean over all places, then Gemm."""
    mean = images.mean((2, 3))

    def back(error: Array, gradients: Parameters) -> Array:
        gradients["dense.weight"], gradients["dense.bias"] = error.T @ mean, error.sum(0)
        places = images.shape[2] * images.shape[3]
        return np.broadcast_to((error @ p["dense.weight"])[:, :, None, None] / places, images.shape)

    return mean @ p["dense.weight"].T + p["dense.bias"], back


def forward(images: Array, p: Parameters) -> tuple[Array, list[Step]]:
    """The scores of every keyword, and the way back, first step first."""
    value, steps = images, list[Step]()
    for layer in (
        lambda x: convolved(x, p, "first"), pooled,
        lambda x: convolved(x, p, "depth1"), lambda x: mixed(x, p, "point1"), pooled,
        lambda x: convolved(x, p, "depth2"), lambda x: mixed(x, p, "point2"),
        lambda x: classified(x, p),
    ):  # fmt: skip
        value, back = layer(value)
        steps.append(back)
    return value, steps


def gradients_of(images: Array, labels: Array, p: Parameters) -> Parameters:
    """Of the mean cross entropy."""
    scores, steps = forward(images, p)
    error = np.exp(scores - scores.max(1, keepdims=True))
    error /= error.sum(1, keepdims=True)
    error[np.arange(len(labels)), labels] -= 1
    error /= len(labels)
    gradients: Parameters = {}
    for back in reversed(steps):
        error = back(error, gradients)
    return gradients


def drawn(generator: np.random.Generator) -> Parameters:
    """Weights before training."""
    shapes = {
        "first": (12, 1, 3, 3), "depth1": (12, 1, 3, 3), "point1": (24, 12, 1, 1),
        "depth2": (24, 1, 3, 3), "point2": (24, 24, 1, 1), "dense": (KEYWORDS, 24),
    }  # fmt: skip
    p: Parameters = {}
    for name, shape in shapes.items():
        p[f"{name}.weight"] = generator.normal(0, np.sqrt(2 / np.prod(shape[1:])), shape)
        p[f"{name}.bias"] = np.zeros(shape[0])
    return p


def train(images: Array, labels: Array, generator: np.random.Generator) -> Parameters:
    """Adam, learning rate falling to zero."""
    p = drawn(generator)
    mean = {name: np.zeros_like(value) for name, value in p.items()}
    square = {name: np.zeros_like(value) for name, value in p.items()}
    steps = EPOCHS * (len(images) // BATCH)
    step = 0
    for _ in range(EPOCHS):
        order = generator.permutation(len(images))
        for start in range(0, len(images) - BATCH + 1, BATCH):
            chosen = order[start : start + BATCH]
            step += 1
            rate = 1e-2 * (1 - step / (steps + 1))
            for name, gradient in gradients_of(images[chosen], labels[chosen], p).items():
                mean[name] = 0.9 * mean[name] + 0.1 * gradient
                square[name] = 0.999 * square[name] + 0.001 * gradient**2
                direction = mean[name] / (1 - 0.9**step)
                p[name] = p[name] - rate * direction / (np.sqrt(square[name] / (1 - 0.999**step)) + 1e-8)
    return {name: value.astype(np.float32) for name, value in p.items()}


def to_onnx(p: Parameters) -> onnx.ModelProto:
    """The network as an exporter would write it: NCHW, opset 17, batch 1."""
    nodes, value = [], "spectrum"

    def add(op: str, name: str, *constants: str, **attributes: object) -> None:
        nonlocal value
        nodes.append(helper.make_node(op, [value, *constants], [name], f"{name}_{op.lower()}", **attributes))
        value = name

    for name in ("first", "depth1", "point1", "depth2", "point2"):
        weight = p[f"{name}.weight"]
        side, groups = weight.shape[2], len(weight) if name.startswith("depth") else 1
        pads = {"kernel_shape": [side, side], "pads": [side // 2] * 4, "group": groups}
        add("Conv", f"{name}.sum", f"{name}.weight", f"{name}.bias", **pads)
        add("Relu", name)
        if name in ("first", "point1"):
            add("MaxPool", f"{name}.small", kernel_shape=[2, 2], strides=[2, 2])
    add("GlobalAveragePool", "mean")
    add("Flatten", "features")
    add("Gemm", "logits", "dense.weight", "dense.bias", transB=1)
    add("Softmax", "scores", axis=1)
    graph = helper.make_graph(
        nodes,
        "keywords",
        [helper.make_tensor_value_info("spectrum", TensorProto.FLOAT, [1, 1, MOMENTS, BANDS])],
        [helper.make_tensor_value_info("scores", TensorProto.FLOAT, [1, KEYWORDS])],
        [numpy_helper.from_array(array, name) for name, array in p.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    return model


if __name__ == "__main__":
    main()
