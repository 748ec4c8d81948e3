"""Every operator of the core, tiled for a scratchpad that its operands do not fit: planned, checked, run on the twin.

The whole matrix is `benchmarks/operator_tiling.py`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

from layer_programs import Case, layer_space, least_room, run_on_twin, tiles_of, two_hops
from tilewright.errors import Exit, TilewrightError
from tilewright.ir.plans.region import key_of
from tilewright.ir.plans.tiler import Buffering
from tilewright.runners.twin import TwinRunner
from tilewright.testing.cluster import cluster
from tilewright.testing.one_step import vocabulary
from tilewright.testing.operator_layers import Sample, every_layer

LAYERS = {layer.name: layer for layer in every_layer()}
MIDDLE_BYTES = 10 << 10  # of the memory between home and near; reductions must be whole there

# What a tile cannot do without, bytes: everything else of these layers may be cut down to a few elements.
WHOLE_AXES = {
    "Softmax": 2 * 29 * 4,
    "Softmax_columns": 2 * 37 * 4,
    "LogSoftmax": 2 * 29 * 4,
    "LogSoftmax_columns": 2 * 37 * 4,
    "LayerNormalization": 4 * 29 * 4,
    "RMSNormalization": 3 * 29 * 4,
    "ArgMax": 13 * 4,
    "CumProd": 13 * 4,
    "CumSum": 13 * 4,
    "TopK": 13 * 4 + 4 * 4 + 4 * 8,
    "ArgMin": 13 * 4,
    "QSoftmax": 1024 + 2 * 31,  # a table of exponentials
    "QMaskedSoftmax": 1024 + 3 * 31,
    "QLogSoftmax": 1024 + 2 * 31,
    "QLayerNormalization": 2 * 29 * 31 + 2 * 29 * 4,  # a row of two axes
    "QLookup": 256 + 2,
    "DynamicQuantizeLinear": 5 * 7 * 11 * (4 + 1),  # all of it: targets that copy tiles split it first
    "Gather": 9 * 4,
    "Gather_constant_indices": 14 * 4,
    "GatherElements": 14 * 4,
    "ToStored_pixel_rows": (11 * 20 + 224) * 4,  # a row of pixels is never cut
    "FromStored_pixel_rows": (11 * 20 + 224) * 4,
    "GridSample": 4 * 6 * 4,
    "RoiAlign": 2 * 6 * 8 * 4,
    "Scatter": 4 * (2 * 5 * 7 * 13 + 9 * 13) + 8 * 9,
    "LSTMSteps": 4 * (7 * 5 * (4 + 1) + 20 * 5),  # a sequence, and the weights
    "LSTMSteps_everything": 4 * (7 * 5 * (4 + 1) + 20 * 5 + 15),
    "GRUSteps": 4 * (7 * 5 * (3 + 1) + 15 * 5),
    "GRUSteps_everything": 4 * (7 * 5 * (3 + 1) + 15 * 5),
    "GRUSteps_bias_inside": 4 * (7 * 5 * (3 + 1) + 15 * 5 + 5),
    "RNNSteps": 4 * (7 * 5 * (1 + 1) + 5 * 5),
    "RNNSteps_everything": 4 * (7 * 5 * (1 + 1) + 5 * 5),
    "QLSTM": 512 + 7 * (9 + 5) + 20 * (9 + 5 + 4),  # a table, a sequence, weights and bias
    "QLSTM_everything": 512 + 7 * (9 + 5) + 20 * (9 + 5 + 4 + 4),
    "QLSTM_everything_of_16_bits": 512 + 2 * 7 * (9 + 5) + 20 * (9 + 5 + 4 + 4),
    "QGRU": 512 + 7 * (9 + 5) + 15 * (9 + 5 + 4),
    "QGRU_everything": 512 + 7 * (9 + 5) + 15 * (9 + 5 + 4 + 4),
    "QGRU_everything_of_16_bits": 512 + 2 * 7 * (9 + 5) + 15 * (9 + 5 + 4 + 4),
    "QGemm_4_bits": 101 + 51,  # rows of values that share bytes: a reduction of them is not cut
    "QGemm_2_bits": 101 + 26,
    "QConv_4_bits": 12 * 9 + 12 * 9 // 2,
    "QConv_2_bits": 12 * 9 + 12 * 9 // 4,
    "MatMulNBits_4_bits": 101 * 4 + 51 + 4 * 4 + 2,
    "MatMulNBits_2_bits": 101 * 4 + 26 + 4 * 4 + 1,
    "Resample": 10 * 4,
    "Reshape_joined": 2 * 22 * 4,
    "Reshape_split": 2 * 7 * 4,
    "Reshape_regrouped": 2 * 22 * 4,
    "Reshape_flat": 2 * 308 * 4,
}
# A tile of some elements and of a few more: windows, their channels, what is added once, and what no buffer may split.
FEW_BYTES = 176


@cache
def least(name: str) -> int:
    return least_room(LAYERS[name], cluster())


def total_bytes(layer: Sample) -> int:
    return sum(array.nbytes for array in layer.inputs if array is not None)


def rooms(name: str, share: int) -> int:
    """Bytes for tiles: a part of the inputs, or a little more than must be."""
    return max(least(name) * 5 // 4 + 64, total_bytes(LAYERS[name]) // share)


def test_every_operator_has_a_layer() -> None:
    assert {layer.op for layer in LAYERS.values()} == set(vocabulary())
    assert len(LAYERS) == len(every_layer())


@pytest.mark.slow
@pytest.mark.parametrize("name", LAYERS)
def test_no_axis_is_whole_without_need(name: str) -> None:
    """An operator that needs more and more scratchpad where its tensors grow is here only with its whole axes."""
    assert least(name) <= WHOLE_AXES.get(name, 0) + FEW_BYTES


@pytest.mark.slow
@pytest.mark.parametrize("name", LAYERS)
def test_what_cannot_be_cut_is_named(name: str) -> None:
    """With no more than a few bytes the error names the node, the bytes, the smallest memory, and every uncut loop."""
    with pytest.raises(TilewrightError) as caught:
        tiles_of(Case(layer=LAYERS[name], room_bytes=least(name) - 8, buffering="single"), cluster())
    error = caught.value
    assert (error.code, error.exit_code) == ("TW5101", Exit.DOES_NOT_FIT)
    assert f"{least(name):,} B" in error.message
    scratchpad_bytes = least(name) + cluster().runtime_bytes["l1"]
    assert any(f"--memory l1={scratchpad_bytes} " in line for line in error.fix)
    text = "\n".join(error.details)
    assert all(
        f"loop '{loop}' cannot be cut" in text for loop in layer_space(LAYERS[name], cluster(), split=True).refused
    )
    if name in WHOLE_AXES and not name.startswith("Reshape"):
        assert "elements, cannot be cut:" in text


def test_a_row_that_does_not_fit_is_named() -> None:
    rows = Sample(op="LayerNormalization", inputs=(np.zeros((8, 1000), np.float32), np.ones(1000, np.float32)))
    with pytest.raises(TilewrightError) as caught:
        tiles_of(Case(layer=rows, room_bytes=8 << 10, buffering="auto"), cluster())
    assert "12,000 B" in caught.value.message and "step 'layernormalization_0'" in caught.value.where
    assert "axis 1 of X, 1,000 elements, cannot be cut: LayerNormalization takes it whole" in caught.value.details


def cases(share: int, odd: Buffering, even: Buffering) -> list[Case]:
    """Every layer once, buffered in turns."""
    return [
        Case(layer=layer, room_bytes=rooms(name, share), buffering=even if number % 2 else odd, number=number)
        for number, (name, layer) in enumerate(LAYERS.items())
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("hops", "thirds"),
    [(1, (1,)), (2, (0,)), *(pytest.param(hops, (0, 1, 2), marks=pytest.mark.long) for hops in (1, 2))],
    ids=["1-one third", "2-one third", "1-all", "2-all"],
)
def test_tiles_compute_what_references_do(hops: int, thirds: tuple[int, ...], tmp_path: Path) -> None:
    """All layers, or those of every three that are named, in one program; every layer always over one hop or two."""
    near = cluster()
    if hops == 1:
        platform, chosen = near, cases(10, "single", "double")
    else:
        platform, chosen = two_hops(near.memory("l1").size_bytes or 0, MIDDLE_BYTES), cases(6, "double", "single")
    chosen = [case for case in chosen if case.number % 3 in thirds]
    assert run_on_twin(chosen, platform, tmp_path, TwinRunner(seeds=(1,), modes=("lazy",))) == []


@pytest.mark.parametrize(
    ("name", "access", "copied"),
    [
        ("Gather_a_few_of_many", "rw", False),
        ("Gather_a_few_of_many", "none", True),
        ("Gather_constant_indices", "rw", True),
    ],
)
def test_a_table_of_which_little_is_used_is_read_where_it_is(
    name: str, access: Literal["rw", "none"], copied: bool
) -> None:
    """As long as cores can."""
    plain = cluster()
    engine = plain.engines[0].name
    memories = (replace(one, access={engine: access}) if one.name == "flash" else one for one in plain.memories)
    case = Case(layer=LAYERS[name], room_bytes=4 << 10, buffering="single")
    (group,) = tiles_of(case, replace(plain, memories=tuple(memories))).tiled.groups
    assert (key_of(group.name, "X") in group.region.hops[-1].copies) == copied
