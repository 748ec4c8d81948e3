"""All C of kernels together: of each target, what the core and the plugins bring, in one file that reads well."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from choosy_layers import grouped_layers, shifted_layers, wide_layers
from dialect_models import dialect_layers
from signal_layers import signal_layers

from tilewright.config.options import Options
from tilewright.emit.kernels import fitted
from tilewright.ir.code_fragments import CodeFragment, definitions, ordered
from tilewright.ir.graphs.graph import Attribute
from tilewright.ir.tensors.requant import Requant
from tilewright.ir.tensors.roundings import DoubleRounding, Rational
from tilewright.plugins.loading import load_for
from tilewright.testing.kernels.fragment_checks import compile_together, fragments_of
from tilewright.testing.operator_layers import Sample, every_layer
from tilewright.testing.operator_sites import site_of
from tilewright.testing.side_by_side import side_by_side

# Both are matrix products of two activations: the core has the kernel of one, a plugin that of the other.
TWO_PRODUCTS = ("MatMul", "QMatMul")
TARGETS = ("generic", "cortex-m0plus", "cortex-m4", "cortex-m7", "cortex-m33", "cortex-m55", "siracusa")
COPIED_WHOLE = {"portable.arrival", "portable.departure", "portable.reshape"}  # by one `memcpy`: no function of ours
OBJECTIONS = {
    "a long line": re.compile(r"^.{121,}$", re.MULTILINE),
    "a loop over one pixel": re.compile(r"for \(int32_t j = 0; j < 1;"),
    "nothing is added": re.compile(r"\w \+= \(\w+ \+ 0\)"),
    "a cast of a cast": re.compile(r"\(\w+ \*\)\(void \*\)\(\(\w+ \*\)"),
}


def of_five_columns(depthwise: Sample) -> Sample:
    """A depthwise convolution with wider windows."""
    weights = np.ones((np.asarray(depthwise.inputs[1]).shape[0], 1, 5, 5), np.int8)
    attributes = {**depthwise.attributes, "kernel_shape": (5, 5), "pads": (2, 2, 2, 2)}
    return replace(depthwise, inputs=(depthwise.inputs[0], weights, *depthwise.inputs[2:]), attributes=attributes)


def layers() -> tuple[Sample, ...]:
    """One that every kernel accepts at least: those of the kit, and simpler ones for kernels that are choosy."""
    whole = [layer for layer in every_layer() if layer.op in ("QAdd", "QReduceMean") and layer.kind == ""]
    add, mean = (next(layer for layer in whole if layer.op == op) for op in ("QAdd", "QReduceMean"))
    products = [layer for layer in every_layer() if layer.op == "QGemm" and layer.kind in ("", "4 bits")]
    depthwise = next(layer for layer in every_layer() if (layer.op, layer.kind) == ("QConv", "depthwise"))
    image, scale, zero = np.zeros((1, 8, 6, 6), np.int8), np.float32(0.5), np.int8(0)
    return (
        *every_layer(),
        *dialect_layers(),
        *wide_layers(),
        *grouped_layers(),
        *signal_layers(),
        replace(add, inputs=(image, image), attributes={**add.attributes, "a_scale": 1.0, "b_scale": 0.2}),
        replace(depthwise, attributes={**depthwise.attributes, "dilations": (2, 1)}),
        of_five_columns(depthwise),
        replace(mean, inputs=(image,), attributes={**mean.attributes, "axes": (2, 3), "keepdims": 1}),
        *(replace(one, inputs=(np.asarray(one.inputs[0])[:1], *one.inputs[1:])) for one in products),
        *float_layers(every_layer()),
        *twice_layers(),
        Sample(
            op="QuantizeLinear",
            inputs=(image.astype(np.float32), np.asarray(scale), np.asarray(zero)),
            attributes={"axis": 0, "to": "i8"},
            constants=(1, 2),
        ),
    )


def twice_layers() -> Iterator[Sample]:
    """Sums, products, pools and softmax of 16-bit values, as TensorFlow Lite Micro rounds them."""
    image, (low, high) = np.zeros((1, 8, 6, 6), np.int16), (-(2**15), 2**15 - 1)
    quotient = Rational(numerator=(1,), denominator=(6,), halves="away")
    plain = Requant(scale=(2.0**-15,), zero_point=0, low=low, high=high, rounding=DoubleRounding())
    zeros: dict[str, Attribute] = {"a_zero_point": 0, "b_zero_point": 0, "output_type": "i16"}
    numbers: dict[str, Attribute] = {
        "a_scale": 0.5, "b_scale": 0.75, "y_scale": 0.9, "zero_point": 0, "low": low, "high": high, "rounding": "tflm",
    }  # fmt: skip
    window: dict[str, Attribute] = {
        "kernel_shape": (2, 3), "strides": (1, 1), "dilations": (1, 1), "pads": (0,) * 4, "ceil_mode": 0,
    }  # fmt: skip
    mean: dict[str, Attribute] = {
        "x_zero_point": 0, "count_include_pad": 0, "output_type": "i16",
        "requant": replace(plain, scale=(1 / 6,), rounding=quotient),
    }  # fmt: skip
    yield Sample(op="QAdd", inputs=(image, image), attributes={**zeros, **numbers})
    yield Sample(op="QMul", inputs=(image, image), attributes={**zeros, "requant": plain})
    yield Sample(op="MaxPool", inputs=(image,), attributes=window)
    yield Sample(op="QAveragePool", inputs=(image,), attributes={**window, **mean})
    row: dict[str, Attribute] = {**numbers, "axis": -1, "x_scale": 0.0004, "y_scale": 2.0**-15, "output_type": "i16"}
    yield Sample(op="QSoftmax", inputs=(image,), attributes=row)


def float_layers(whole: Sequence[Sample]) -> Iterator[Sample]:
    """A product of one row, and layers of float16."""
    product, matmul, conv = (next(layer for layer in whole if layer.op == op) for op in ("Gemm", "MatMul", "Conv"))
    yield replace(product, inputs=(np.asarray(product.inputs[0])[:1], *product.inputs[1:]))
    for layer in (product, matmul, conv):
        yield replace(layer, inputs=tuple(None if one is None else one.astype(np.float16) for one in layer.inputs))


@cache
def of_kernels(target: str) -> Mapping[str, tuple[CodeFragment, ...]]:
    """What every kernel that runs there has at file scope."""
    found = load_for(target=target)
    platform = found.platforms[target]
    kernels = [kernel for kernel in found.kernels.values() if platform.runs(kernel.target) and not kernel.pattern]
    shifted = (*layers(), *shifted_layers())
    return {
        kernel.name: tuple(
            fragments_of((kernel,), found.operators, shifted if "multiply-shift" in kernel.roundings else layers())
        )
        for kernel in kernels
    }


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_all_sections_of_a_target(target: str, tmp_path: Path) -> None:
    """One translation unit has the C of every kernel of the target: no two of them define one name."""
    platform, of_kernel = load_for(target=target).platforms[target], of_kernels(target)
    assert {name for name, sections in of_kernel.items() if not sections} <= COPIED_WHOLE
    sections = tuple(section for some in of_kernel.values() for section in some)
    assert compile_together(sections, platform.prelude, tmp_path) == ""
    names = set().union(*(definitions(section.text) for section in ordered(sections)))
    assert len(names) > 150


@pytest.mark.parametrize("target", (*TARGETS, "snitch"))
def test_sections_read_well(target: str) -> None:
    texts = {section.text for sections in of_kernels(target).values() for section in ordered(sections)}
    assert len(texts) > 100 and [one for text in texts for one in objections(fitted(text))] == []


def objections(text: str) -> list[str]:
    """What a reviewer says of C."""
    return [f"{what}: {match[0]!r}" for what, form in OBJECTIONS.items() for match in form.finditer(text)]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (f"int {'a' * 117};", "a long line"),
        ("for (int32_t j = 0; j < 1; ++j) {", "a loop over one pixel"),
        ("w += (count + 0) * 4;", "nothing is added"),
        ("f((float *)(void *)((uint8_t *)scratch + 64));", "a cast of a cast"),
    ],
)
def test_objections_are_found(text: str, what: str) -> None:
    assert [one.partition(":")[0] for one in objections(f"\n{text}\n")] == [what]


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
