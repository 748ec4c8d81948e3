"""Knows how a layer of products stores its weights, what its sums begin with, and the padding. Does not know how it is
computed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from tilewright.api import ceil_div
from tilewright.api.kernel import Matched, windows_of
from tilewright_siracusa.kernels.forms import WORD, Form
from tilewright_siracusa.kernels.layers import BLOCK, bias_and_scale
from tilewright_siracusa.kernels.nibbles import nibble_biases, nibble_bytes
from tilewright_siracusa.kernels.parts import GRAIN
from tilewright_siracusa.kernels.words import word_biases, word_bytes

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]


def pack(site: Matched) -> Mapping[str, Array]:
    """Weights, biases with scales, and a row of padding where it is needed."""
    form: Form = site.analysis
    layer = form.layer
    stated = layer.weights.reshape(layer.outputs, -1)
    filled = np.zeros((layer.blocks * BLOCK, form.column_bytes // form.value_bytes), np.int8)
    filled[: layer.outputs, : stated.shape[1]] = stated
    if form.nibbles:
        filled, layer = nibble_bytes(filled), replace(layer, bias=nibble_biases(layer.bias))
    elif form.shared:
        filled, layer = word_bytes(filled), replace(layer, bias=word_biases(layer.bias))
    words = filled.reshape(layer.blocks, len(filled) // layer.blocks, -1, WORD).swapaxes(1, 2)
    shapes = packed_shapes(site)
    packed = {"W": np.ascontiguousarray(words).reshape(shapes["W"]), "P": bias_and_scale(layer)}
    if "Z" in shapes:
        pad = np.asarray([layer.pad]).astype(f"<i{form.value_bytes}").view(np.uint8)
        packed["Z"] = np.resize(pad, shapes["Z"])
    return packed


def needs_padding(form: Form) -> bool:
    """Whether taps that lie outside are read from a row of padding."""
    return form.layer.padded and form.direct


def packed_shapes(site: Matched) -> dict[str, tuple[int, ...]]:
    """Weights in place have an axis for every loop that may be cut; padding is enough for a row of any part's taps."""
    form: Form = site.analysis
    layer = form.layer
    taps = windows_of(site.node).kernel if site.node.op == "QConv" else ()
    columns = (form.weight_bytes * form.column_bytes // WORD,)
    inner = (*taps, form.tap_bytes // WORD, form.weight_bytes) if form.direct else columns
    shapes: dict[str, tuple[int, ...]] = {"W": (layer.blocks, *inner), "P": (layer.blocks, 2 * BLOCK)}
    if needs_padding(form):
        grain = GRAIN * form.value_bytes
        shapes["Z"] = (ceil_div(form.tap_bytes, grain), form.taps[1] * grain)
    return shapes
