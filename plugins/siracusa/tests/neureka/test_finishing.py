"""What the cores make of sums, on the simulated core: exact at borders and for any number of channels, and as fast as
the cost says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from iss_run import CODE, LIBRARY, image_of
from xpulp_iss import Machine

from tilewright.api.graph import MultiplyShift, Requant, Rounding, requantise
from tilewright.api.testing import site_of
from tilewright.c_text.templates import template
from tilewright.ir.code_fragments import CodeFragment, ordered
from tilewright.operators.c_code.c_source import c_fragment as core_section
from tilewright.operators.quantised.qconv import QCONV
from tilewright_siracusa.kernels.limits import limits_of_results
from tilewright_siracusa.kernels.sources import c_fragment, c_template
from tilewright_siracusa.neureka.finishing import finish_cycles, limit_of_finished, pick_cycles
from tilewright_siracusa.neureka.layers import EngineLayer, conv_layer, requant_words

SUMS, TABLE, OUT = 0x80000, 0x180000, 0x190000
AROUND = 1000.0  # of the cost: a job's registers, and code that comes from L2
SHIFT = MultiplyShift(multiplier=(3,), addend=(70,), shift=(14,))
ONNX = Requant(scale=(1.0,), zero_point=0, low=0, high=0).rounding


@dataclass(frozen=True)
class Case:
    """Sums of an image, and how they are requantised."""

    rows: int
    columns: int
    outputs: int
    zero: int = 0
    limits: tuple[int, int, int] = (-128, 0, 255)  # zero point of results less that of uint8, low, high
    rounding: Rounding = ONNX


CASES = {
    "rounded, of uint8": Case(8, 9, 8, limits=(0, 0, 255)),
    "rounded, other limits": Case(7, 8, 12, limits=(5, 0, 250)),
    "shifted": Case(6, 11, 8, limits=(0, 0, 255), rounding=SHIFT),
    "shifted, other limits, odd channels": Case(5, 6, 7, limits=(9, 9, 200), rounding=SHIFT),
    "few channels": Case(5, 6, 3, limits=(9, 9, 200), rounding=SHIFT),
    "borders": Case(6, 7, 8, zero=5, limits=(0, 0, 255)),
    "borders of one row": Case(1, 4, 5, zero=5, limits=(3, 0, 255), rounding=SHIFT),
    "borders of one column": Case(4, 1, 4, zero=5, limits=(3, 0, 255)),
}


def layer_of_case(case: Case, rng: np.random.Generator) -> EngineLayer:
    x = rng.integers(0, 256, (1, 4, case.rows, case.columns)).astype(np.uint8)
    w = rng.integers(-128, 128, (case.outputs, 4, 3, 3)).astype(np.int8)
    zero, low, high = case.limits
    scale = tuple(float(np.float32(one)) for one in rng.uniform(1e-4, 3e-4, case.outputs))
    requant = Requant(scale=scale, zero_point=zero, low=low, high=high, rounding=case.rounding)
    if case.rounding is not ONNX:
        requant = replace(requant, scale=(3 / 2**14,))
    attributes: Any = {
        "kernel_shape": (3, 3), "strides": (1, 1), "dilations": (1, 1), "pads": (1,) * 4, "group": 1, "ceil_mode": 0,
        "requant": requant, "x_zero_point": 0, "pad_value": case.zero, "output_type": "u8", "w_zero_point": (0,),
    }  # fmt: skip
    layer = conv_layer(
        site_of(QCONV, [x, w, rng.integers(-9999, 9999, case.outputs).astype(np.int32)], attributes, (1, 2))
    )
    assert isinstance(layer, EngineLayer)
    return layer


def text_of_sections(sections: Iterable[CodeFragment]) -> str:
    return "\n".join(section.text for section in sections)


def text_of(layer: EngineLayer, case: Case) -> str:
    bordered, requant = len(layer.biases) > 1, layer.layer.requant
    values = {
        "function": "tw_finish", "limit": limit_of_finished(layer), "ways": bordered,
        "shift": case.rounding is not ONNX,
    }  # fmt: skip
    finish = c_template("${function}", "neureka_finish.c.mako")
    known = [need for need in finish.needs if isinstance(need, CodeFragment)]
    sections = ordered((core_section("prelude.h"), *known))
    return f"""#include <stdint.h>
#include <stddef.h>
void *memcpy(void *, const void *, size_t);
{text_of_sections(sections)}
{template(finish.text).render(**values)}
void tw_test(const int32_t *sums, const int32_t *table, uint8_t *y);
void tw_test(const int32_t *sums, const int32_t *table, uint8_t *y)
{{
    tw_finish((tw_neureka_sums){{.rows = {case.rows}, .columns = {case.columns}, .outputs = {case.outputs},
        .sum_column = {case.outputs}, .sum_row = {case.outputs * case.columns}, .y_column = {case.outputs},
        .y_row = {case.outputs * case.columns}, .words = {1 + len(layer.biases)}, .top = 1, .bottom = 1, .left = 1,
        .right = 1, .shift = 14, .to = {limits_of_results(requant, "any")}}}, sums, table, y);
}}
{LIBRARY}"""


def executed(text: str, folder: Path, memory: dict[int, Any]) -> Machine:
    image, entry = image_of(text, folder)
    machine = Machine(bytearray(0x200000))
    for place, data in {CODE: image, **memory}.items():
        machine.memory[place : place + len(bytes(data))] = bytes(data)
    machine.run(entry, (SUMS, TABLE, OUT))
    return machine


@pytest.mark.parametrize("name", CASES)
def test_sums_become_results(name: str, tmp_path: Path, tool: Callable[[str], str]) -> None:
    tool("riscv64-unknown-elf-gcc")
    case, rng = CASES[name], np.random.default_rng(len(name))
    layer = layer_of_case(case, rng)
    sums = rng.integers(-(2**19), 2**19, (case.rows, case.columns, case.outputs)).astype(np.int32)
    words = requant_words(layer.layer.requant, layer.biases).astype(np.uint32)
    machine = executed(text_of(layer, case), tmp_path, {SUMS: sums.tobytes(), TABLE: words.tobytes()})
    found = np.frombuffer(bytes(machine.memory), np.uint8, sums.size, OUT).reshape(sums.shape)
    assert len(np.unique(found)) > 5
    np.testing.assert_array_equal(found, requantise(sums + biases_of(layer, case), layer.layer.requant, 2))
    if len(layer.biases) == 1 and case.outputs % 4 == 0:
        cycles = machine.cycles + machine.executed["mul"]  # see `finishing`: two for a product
        said = finish_cycles(layer, case.rows, case.columns, case.outputs) - AROUND
        assert cycles == pytest.approx(said, rel=0.15)


def biases_of(layer: EngineLayer, case: Case) -> Any:
    """The bias of each pixel: by which taps of its window are outside."""
    if len(layer.biases) == 1:
        return layer.biases[0].astype(np.int64)
    ways = [[int(at == 0) + 2 * int(at == extent - 1) for at in range(extent)] for extent in (case.rows, case.columns)]
    return np.array([[layer.biases[4 * down + across] for across in ways[1]] for down in ways[0]])


@pytest.mark.parametrize("outputs", [3, 8, 30])
def test_every_second_result_is_picked(outputs: int, tmp_path: Path, tool: Callable[[str], str]) -> None:
    tool("riscv64-unknown-elf-gcc")
    rows, columns = 4, 5
    sections = ordered((core_section("prelude.h"), c_fragment("neureka_pick.h")))
    text = f"""#include <stdint.h>
#include <stddef.h>
void *memcpy(void *, const void *, size_t);
{text_of_sections(sections)}
void tw_test(const uint8_t *results, const uint8_t *unused, uint8_t *y);
void tw_test(const uint8_t *results, const uint8_t *unused, uint8_t *y)
{{
    (void)unused;
    tw_neureka_pick((tw_neureka_picked){{.rows = {rows}, .columns = {columns}, .outputs = {outputs},
        .sum_column = {2 * outputs}, .sum_row = {2 * (2 * columns - 1) * outputs}, .y_column = {outputs},
        .y_row = {columns * outputs}}}, results, y);
}}
{LIBRARY}"""
    results = np.random.default_rng(2).integers(0, 256, (2 * rows - 1, 2 * columns - 1, outputs)).astype(np.uint8)
    machine = executed(text, tmp_path, {SUMS: results.tobytes()})
    found = np.frombuffer(bytes(machine.memory), np.uint8, rows * columns * outputs, OUT)
    np.testing.assert_array_equal(found, results[::2, ::2].ravel())
    if outputs % 4 == 0:
        assert machine.cycles == pytest.approx(pick_cycles(rows * columns, outputs) - AROUND, rel=0.25)
