"""A layer for every operator: complete, the same for a seed, and too large for a small scratchpad."""

from __future__ import annotations

from collections import Counter

import numpy as np

from tilewright.testing.one_step import portable_kernels, vocabulary
from tilewright.testing.operator_layers import every_layer, recurrent_layers
from tilewright.testing.operator_sites import refusal, site_of

LAYERS = every_layer()


def test_every_operator_that_computes_has_a_layer_that_a_kernel_takes() -> None:
    accepted = set()
    for layer in LAYERS:
        site = site_of(vocabulary()[layer.op], layer.inputs, layer.attributes, layer.constants)
        kernels = [kernel for kernel in portable_kernels().values() if kernel.op == layer.op]
        if any(refusal(kernel, site) is None for kernel in kernels):
            accepted.add(layer.op)
    assert accepted == {layer.op for layer in LAYERS}
    assert accepted == {kernel.op for kernel in portable_kernels().values()}


def test_names_are_unique_and_the_same_seed_gives_the_same_arrays() -> None:
    assert Counter(layer.name for layer in LAYERS).most_common(1)[0][1] == 1
    for one, other in zip(LAYERS, every_layer(), strict=True):
        assert one.name == other.name
        assert all(np.array_equal(a, b) for a, b in zip(one.inputs, other.inputs, strict=True) if a is not None)
    assert any(
        not np.array_equal(one.inputs[0], other.inputs[0]) for one, other in zip(LAYERS, every_layer(1), strict=True)
    )


def test_layers_are_large() -> None:
    """The larger of what goes in and what comes out takes a few hundred bytes at least, so that it can be cut."""
    for layer in LAYERS:
        site = site_of(vocabulary()[layer.op], layer.inputs, layer.attributes, layer.constants)
        tensors = [tensor for tensor in (*site.inputs, *site.outputs) if tensor]
        assert max(tensor.size_bytes for tensor in tensors) >= 256, layer.name


def test_every_kind_plain_and_with_everything() -> None:
    layers = list(recurrent_layers(np.random.default_rng(0)))
    assert len({layer.name for layer in layers}) == len(layers) == 7
    assert {len(layer.inputs) for layer in layers} == {2, 7}
