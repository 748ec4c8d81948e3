"""Blocks of whole networks, small: their extents are drawn, and are the same for the same random numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from tests.kit.qdq_draft import F32, Draft

Build = Callable[[Draft], str]


def _heads(draft: Draft) -> tuple[int, int]:
    """Heads, and features of all of them."""
    heads = draft.pick(2, 4)
    return heads, heads * draft.pick(4, 8)


def _places(draft: Draft, x: str, tokens: int, features: int) -> str:
    """With what tells one place from another."""
    return draft.node("Add", x, draft.constant((0.1 * draft.random.standard_normal((1, tokens, features))).astype(F32)))


def _rows(draft: Draft, x: str, features: int, tokens: int) -> str:
    """Places of an image as rows."""
    return draft.node("Transpose", draft.node("Reshape", x, draft.shape(1, features, tokens)), perm=(0, 2, 1))


def _encoded(draft: Draft, x: str, tokens: int, features: int, heads: int) -> str:
    """A block of a transformer that normalises first."""
    x = draft.node("Add", x, draft.attention(draft.normalised(x, features), tokens, features, heads))
    inner = draft.erf_gelu(draft.dense(draft.normalised(x, features), features, 2 * features))
    return draft.node("Add", x, draft.dense(inner, 2 * features, features))


def _vit(draft: Draft) -> str:
    """A block of a vision transformer: patches, two normalisations, attention, Gelu, residuals, mean, classes."""
    (heads, features), side = _heads(draft), draft.pick(3, 4)
    patches = draft.conv(draft.input(1, 3, 4 * side, 4 * side), 3, features, 4, strides=[4, 4], pads=[0] * 4)
    x = _places(draft, _rows(draft, patches, features, side * side), side * side, features)
    x = draft.normalised(_encoded(draft, x, side * side, features, heads), features)
    return draft.dense(draft.node("ReduceMean", x, draft.shape(1), keepdims=0), features, 10)


def _cct(draft: Draft) -> str:
    """A compact convolutional transformer: a convolution makes tokens, attention pools them."""
    (heads, features), side = _heads(draft), draft.pick(4, 5)
    image = draft.node("Relu", draft.conv(draft.input(1, 3, 2 * side, 2 * side), 3, features))
    small = draft.node("MaxPool", image, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    x = _places(draft, _rows(draft, small, features, side * side), side * side, features)
    x = draft.normalised(_encoded(draft, x, side * side, features, heads), features)
    shares = draft.node("Softmax", draft.dense(x, features, 1), axis=1)
    pooled = draft.node("MatMul", draft.node("Transpose", shares, perm=(0, 2, 1)), x)
    return draft.dense(draft.node("Reshape", pooled, draft.shape(1, features)), features, 10)


def _fed(draft: Draft, x: str, features: int) -> str:
    """Half of a feed-forward part, added."""
    inner = draft.silu(draft.dense(draft.normalised(x, features), features, 2 * features))
    return draft.node("Add", x, draft.node("Mul", draft.dense(inner, 2 * features, features), draft.scalar(0.5)))


def _conformer(draft: Draft) -> str:
    """A block for speech: half a feed-forward part, attention, a gated depthwise convolution, the other half."""
    (heads, features), tokens = _heads(draft), draft.pick(9, 12)
    x = _fed(draft, draft.input(1, tokens, features), features)
    x = draft.node("Add", x, draft.attention(draft.normalised(x, features), tokens, features, heads))
    turned = draft.node("Transpose", draft.normalised(x, features), perm=(0, 2, 1))
    wide = draft.line_conv(turned, features, 2 * features, 1)
    left, right = draft.halves(wide, 1)
    gated = draft.node("Mul", left, draft.node("Sigmoid", right))
    deep = draft.line_conv(gated, features, features, 5, group=features)
    numbers = [draft.constant(draft.random.uniform(0.5, 1.5, features).astype(F32)) for _ in range(4)]
    deep = draft.silu(draft.node("BatchNormalization", deep, *numbers))
    back = draft.node("Transpose", draft.line_conv(deep, features, features, 1), perm=(0, 2, 1))
    return draft.normalised(_fed(draft, draft.node("Add", x, back), features), features)


def _whisper(draft: Draft) -> str:
    """An encoder of sound: two convolutions over time with Gelu, places, a block, a normalisation."""
    (heads, features), tokens = _heads(draft), draft.pick(7, 10)
    x = draft.node("Gelu", draft.line_conv(draft.input(1, 8, 2 * tokens), 8, features, 3))
    x = draft.node("Gelu", draft.line_conv(x, features, features, 3, strides=[2]))
    x = _places(draft, draft.node("Transpose", x, perm=(0, 2, 1)), tokens, features)
    return draft.normalised(_encoded(draft, x, tokens, features, heads), features)


def _decoder(draft: Draft) -> str:
    """A block that sees what came before, and what an encoder made; then the scores of words."""
    (heads, features), tokens, others = _heads(draft), draft.pick(5, 8), draft.pick(6, 9)
    x, seen = draft.input(1, tokens, features), draft.input(1, others, features)
    x = draft.node("Add", x, draft.attention(draft.normalised(x, features), tokens, features, heads, causal=True))
    asked = draft.normalised(x, features)
    x = draft.node("Add", x, draft.attention(asked, tokens, features, heads, of=seen, places=others))
    inner = draft.node("Gelu", draft.dense(draft.normalised(x, features), features, 2 * features))
    x = draft.node("Add", x, draft.dense(inner, 2 * features, features))
    return draft.dense(draft.normalised(x, features), features, 24)


def _mobilenet(draft: Draft) -> str:
    """An inverted bottleneck of MobileNetV3: depthwise, squeeze and excitation with HardSigmoid, HardSwish."""
    side, narrow = draft.pick(14, 16), draft.pick(8, 16)
    x = draft.node("HardSwish", draft.conv(draft.input(1, 3, side, side), 3, narrow, strides=[2, 2]))
    wide = draft.node("HardSwish", draft.conv(x, narrow, 2 * narrow, 1))
    deep = draft.node("HardSwish", draft.conv(wide, 2 * narrow, 2 * narrow, draft.pick(3, 5), group=2 * narrow))
    squeezed = draft.node("Relu", draft.conv(draft.node("GlobalAveragePool", deep), 2 * narrow, 8, 1))
    gate = draft.node("HardSigmoid", draft.conv(squeezed, 8, 2 * narrow, 1), alpha=1 / 6)
    x = draft.node("Add", x, draft.conv(draft.node("Mul", deep, gate), 2 * narrow, narrow, 1))
    head = draft.node("HardSwish", draft.conv(draft.node("GlobalAveragePool", x), narrow, 32, 1))
    return draft.conv(head, 32, 10, 1)


def _efficientnet(draft: Draft) -> str:
    """EfficientNet-lite: inverted bottlenecks with Relu6 and no gates, a pool, classes, Softmax."""
    side, narrow = draft.pick(12, 18), draft.pick(8, 12)
    x = draft.relu6(draft.conv(draft.input(1, 3, side, side), 3, narrow, strides=[2, 2]))
    for kernel in (3, 5):
        deep = draft.relu6(draft.conv(x, narrow, 3 * narrow, 1))
        deep = draft.relu6(draft.conv(deep, 3 * narrow, 3 * narrow, kernel, group=3 * narrow))
        x = draft.node("Add", x, draft.conv(deep, 3 * narrow, narrow, 1))
    head = draft.node("GlobalAveragePool", draft.relu6(draft.conv(x, narrow, 32, 1)))
    scores = draft.dense(draft.node("Reshape", head, draft.shape(1, 32)), 32, 10)
    return draft.node("Softmax", scores, axis=-1)


def _tcn(draft: Draft) -> str:
    """Dilated causal convolutions with PRelu and normalisation, then an LSTM."""
    steps, features, hidden = draft.pick(18, 24), 8, draft.pick(6, 8)
    x = draft.input(1, features, steps)
    for dilation in (1, 2):
        made = draft.line_conv(x, features, features, 3, dilations=[dilation], pads=[2 * dilation, 0])
        x = draft.node("Add", x, draft.node("PRelu", made, draft.constant(np.full((features, 1), 0.2, F32))))
    states = _recurrent(draft, "LSTM", draft.node("Transpose", x, perm=(2, 0, 1)), features, hidden, 4)
    return draft.dense(draft.node("Reshape", states, draft.shape(steps, hidden)), hidden, 4)


def _keywords(draft: Draft) -> str:
    """A convolution over a spectrogram, and a GRU over time."""
    steps, features, hidden = draft.pick(10, 13), draft.pick(4, 6), draft.pick(8, 12)
    x = draft.node("Relu", draft.conv(draft.input(1, 1, steps, 2 * features), 1, features, strides=[1, 2]))
    rows = draft.node("Transpose", x, perm=(2, 0, 1, 3))
    rows = draft.node("Reshape", rows, draft.shape(steps, 1, features * features))
    states = _recurrent(draft, "GRU", rows, features * features, hidden, 3)
    return draft.dense(draft.node("Reshape", states, draft.shape(steps, hidden)), hidden, 6)


def _recurrent(draft: Draft, kind: str, x: str, inside: int, hidden: int, gates: int) -> str:
    shapes = ((1, gates * hidden, inside), (1, gates * hidden, hidden))
    weights = [draft.constant((0.2 * draft.random.standard_normal(shape)).astype(F32)) for shape in shapes]
    return draft.node(kind, x, *weights, hidden_size=hidden)


def _unet(draft: Draft) -> str:
    """Down and up again: MaxPool, linear Resize, Concat over channels, instance normalisation, LeakyRelu."""
    side, narrow = draft.pick(12, 16), draft.pick(6, 8)
    scale, shift = (draft.constant(draft.random.uniform(0.5, 1.5, narrow).astype(F32)) for _ in "ab")
    first = draft.conv(draft.input(1, 3, side, side), 3, narrow)
    first = draft.node("LeakyRelu", draft.node("InstanceNormalization", first, scale, shift), alpha=0.1)
    small = draft.node("MaxPool", first, kernel_shape=[2, 2], strides=[2, 2])
    down = draft.node("Relu", draft.conv(small, narrow, 2 * narrow))
    none, scales = draft.constant(np.array([], F32)), draft.constant(np.array([1, 1, 2, 2], F32))
    up = draft.node("Resize", down, none, scales, mode="linear")
    both = draft.node("Relu", draft.conv(draft.node("Concat", up, first, axis=1), 3 * narrow, 8))
    return draft.node("Softmax", draft.conv(both, 8, 3, 1), axis=1)


BLOCKS: Mapping[str, Build] = MappingProxyType(
    {
        "vision transformer": _vit,
        "CCT": _cct,
        "Conformer": _conformer,
        "Whisper encoder": _whisper,
        "decoder": _decoder,
        "MobileNetV3": _mobilenet,
        "EfficientNet-lite": _efficientnet,
        "TCN with LSTM": _tcn,
        "convolution with GRU": _keywords,
        "U-Net": _unet,
    }
)
