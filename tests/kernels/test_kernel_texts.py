"""The C of one layer for each family of kernels, as it is generated: kernels and step, read like code written by hand.

`python tools/regenerate.py golden` writes the files of `golden/TARGET` anew: review the difference.
"""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from objections import objections

from layer_programs import Case, network
from tilewright.allocate.best_fit import BestFit
from tilewright.emit import EmitOptions, emit
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.tensors.dtypes import DType
from tilewright.lower import lower
from tilewright.plan.proposals.planner import Planner
from tilewright.plugins import Registry, load_for
from tilewright.testing.operator_layers import Sample, every_layer
from tilewright.transform import HOOKS, LIFETIMES, transform

GOLDEN = Path(__file__).with_name("golden")
HALVES = (
    Sample(
        op="Gemm",
        kind="f16",
        inputs=tuple(np.ones(of, np.float16) for of in ((9, 32), (32, 12), (12,))),
        constants=(1, 2),
    ),
    Sample(op="Add", kind="bf16", inputs=(np.ones((6, 40), DType.BF16.numpy),) * 2),
)
LAYERS = {layer.name: layer for layer in (*every_layer(), *HALVES)}
FAMILIES = {
    "generic": (
        "Exp", "Add", "Where", "Cast", "BatchNormalization", "Conv_same", "Conv_computed_weights", "ConvTranspose",
        "MaxPool", "AveragePool", "Gemm", "MatMul", "Softmax", "LayerNormalization", "ReduceMean", "ArgMax",
        "Concat_axis_1", "Slice", "Transpose", "Pad_reflect", "Reshape_joined", "Gather", "ResizeLinear", "Upsample",
        "QAdd", "QMul", "QLookup", "QSoftmax", "QuantizeLinear", "DequantizeLinear", "QReduceMean", "QGemm", "QMatMul",
        "QConv_same", "QAveragePool_ceil", "Pow", "LSTMSteps", "Resample", "Scatter", "TopK", "CumSum",
        "MaxPoolIndices", "MatMulInteger", "ConvInteger", "GridSample", "BitCast", "RoiAlign", "QAffine",
        "QLayerNormalization", "QLogSoftmax", "QMaskedSoftmax", "QResizeLinear", "DynamicScale",
        "QLSTM", "QGRU_everything", "DynamicQuantizeLinear", "MatMulInteger_scaled", "ConvInteger_scaled",
    ),
    "cortex-m4": ("QConv_same", "QConv_depthwise", "QGemm", "QMul", "MaxPool_bytes"),
    "cortex-m55": ("QConv_same", "QGemm", "QLookup"),
    "siracusa": ("Add", "Softmax", "Conv_depthwise", "QConv_same", "QGemm"),
    "snitch": ("Add_bf16", "Gemm_f16"),
}  # fmt: skip
CASES = [(target, layer) for target, layers in FAMILIES.items() for layer in layers]


@cache
def registry(target: str) -> Registry:
    """What a target needs."""
    return load_for(target=target, allocator="best-fit", tiler="auto", memory_hierarchy="", exporters=(), welcome=())


def text_of(target: str, layer: Sample) -> str:
    """The kernels and the step of a network of one layer."""
    found = registry(target)
    graph, _ = network((Case(layer=layer, room_bytes=0, buffering="single"),))
    planner = Planner(
        operators=found.operators,
        kernels=found.kernels,
        tiler=found.tilers["auto"],
        allocator=BestFit(),
        pins=Decisions(),
    )
    plan = planner.plan(planner.bind(graph, found.platforms[target].configure({})))
    program = transform(lower(plan, found.operators, "net"), (HOOKS, LIFETIMES), ())
    files = emit(program, EmitOptions(generator="tilewright 0", const_format="incbin")).files
    section = re.search(
        r"/\* ---- (?:kernels|steps) ---- \*/\n(.*)/\* ---- interface ---- \*/", files["net.c"].decode(), re.DOTALL
    )
    assert section is not None
    return section[1].strip("\n") + "\n"


@pytest.mark.parametrize(("target", "layer"), CASES)
def test_the_c_is_as_reviewed(target: str, layer: str) -> None:
    text, file = text_of(target, LAYERS[layer]), GOLDEN / target / f"{layer}.c"
    if os.environ.get("UPDATE_GOLDEN"):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")


@pytest.mark.parametrize(("target", "layer"), CASES)
def test_the_c_reads_well(target: str, layer: str) -> None:
    assert objections((GOLDEN / target / f"{layer}.c").read_text(encoding="utf-8")) == []


def test_there_is_no_file_without_a_layer() -> None:
    files = {(file.parent.name, file.stem) for file in GOLDEN.rglob("*.c")}
    assert files == set(CASES)
