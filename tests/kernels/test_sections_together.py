"""All C of kernels together: of each target, what the core and the plugins bring, in one file."""

from __future__ import annotations

from pathlib import Path

import pytest

from tilewright.config.options import Options
from tilewright.ir.sections import definitions, ordered
from tilewright.plugins.loading import load_for
from tilewright.testing.operator_layers import every_layer
from tilewright.testing.operator_sites import site_of
from tilewright.testing.section_checks import compile_together, sections_of
from tilewright.testing.side_by_side import side_by_side

# Both are matrix products of two activations: the core has the kernel of one, a plugin that of the other.
TWO_PRODUCTS = ("MatMul", "QMatMul")


@pytest.mark.parametrize("target", ["generic", "cortex-m4", "cortex-m55", "siracusa"])
def test_all_sections_of_a_target(target: str, tmp_path: Path) -> None:
    found = load_for(target=target)
    platform = found.platforms[target]
    kernels = [kernel for kernel in found.kernels.values() if platform.runs(kernel.target)]
    sections = tuple(sections_of(kernels, found.operators, every_layer()))
    assert compile_together(sections, platform.prelude, tmp_path) == ""
    names = set().union(*(definitions(section.text) for section in ordered(sections)))
    assert len(names) > 150


def test_a_network_with_float_and_integer_products() -> None:
    found = load_for(target="cortex-m4").operators
    layers = {layer.op: layer for layer in every_layer() if layer.op in TWO_PRODUCTS and not layer.constants}
    assert set(layers) == set(TWO_PRODUCTS)
    pairs = [(site_of(found[op], one.inputs, one.attributes, one.constants), one.inputs) for op, one in layers.items()]
    deployment = side_by_side(pairs).deployment("cortex-m4", Options())
    assert {"portable.matmul_f32", "cortex-m.dsp.qmatmul"} <= {
        binding.kernel.name for binding in deployment.bound.bindings.values()
    }
    names = [name for one in deployment.program.sources for name in definitions(one.text)]
    assert {"tw_matmul", "tw_arm_matmul"} <= set(names)
