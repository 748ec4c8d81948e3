"""Layers of dynamic quantisation are what a network of them has: bytes with one zero point, and float results."""

from __future__ import annotations

import numpy as np

from tilewright.ir.tensors.dtypes import DType
from tilewright.testing.dynamic_layers import dynamic_layers
from tilewright.testing.one_step import vocabulary
from tilewright.testing.operator_sites import site_of


def test_products_write_floats() -> None:
    quantises, *products = dynamic_layers(np.random.default_rng(0))
    assert quantises.op == "DynamicQuantizeLinear"
    for layer in products:
        site = site_of(vocabulary()[layer.op], layer.inputs, layer.attributes, layer.constants)
        assert (site.input(2).shape, site.input(4).shape, site.output.dtype) == ((1,), (), DType.F32)
