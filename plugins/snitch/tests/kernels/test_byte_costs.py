"""Cycles of convolutions of bytes: what grows with what. Executions are in test_byte_windows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tilewright.api.kernel import Windows
from tilewright_snitch.kernels.byte_costs import ByteRows, conv_cycles, depthwise_cycles, stack_reads
from tilewright_snitch.kernels.byte_layers import ByteLayer

WINDOWS = Windows(kernel=(3, 3), strides=(1, 1), dilations=(1, 1), before=(1, 1), after=(1, 1))
LAYER = ByteLayer(
    windows=WINDOWS,
    weights=np.zeros((16, 9, 16), np.float32),
    parameters=np.zeros((2, 16), np.float32),
    pad=0,
    channels=16,
    depthwise=False,
)
WORK = ByteRows(batches=1, rows=4, columns=20, at_once=10, channels=16, outputs=16)


def test_columns_are_computed_in_equal_runs() -> None:
    assert (WORK.runs, WORK.together) == (2, 10.0)
    assert replace(WORK, columns=21).runs == 3


def test_a_row_of_x_is_widened_once() -> None:
    """So rows after the first take less than it; rows that are apart are widened anew."""
    one, two, three = (conv_cycles(LAYER, replace(WORK, rows=rows)) for rows in (1, 2, 3))
    assert three - two == pytest.approx(two - one)
    assert two - one < one
    apart = replace(LAYER, windows=replace(WINDOWS, dilations=(2, 1)))
    assert conv_cycles(apart, WORK) > conv_cycles(LAYER, WORK)


def test_parts_requantise_once() -> None:
    half = replace(WORK, channels=8)
    assert conv_cycles(LAYER, half) < conv_cycles(LAYER, WORK) < 2 * conv_cycles(LAYER, half)


def test_channels_by_themselves_take_less() -> None:
    assert depthwise_cycles(replace(LAYER, depthwise=True), WORK) < conv_cycles(LAYER, WORK)


def test_results_of_an_odd_number_of_outputs_take_longer() -> None:
    """Two in a register need scales that begin at an even place."""
    even, odd, more = (conv_cycles(LAYER, replace(WORK, outputs=outputs)) for outputs in (16, 17, 18))
    assert odd - even > (more - even) / 2


def test_stacks_are_read_by_every_run_of_every_row() -> None:
    """A far stack makes small tiles slow, and rows that are computed at once no slower."""
    wider, higher = (replace(WORK, columns=40, at_once=20), replace(WORK, rows=8))
    assert stack_reads(LAYER, wider) == stack_reads(LAYER, WORK)
    assert stack_reads(LAYER, higher) > 1.9 * stack_reads(LAYER, WORK)
    assert stack_reads(replace(LAYER, depthwise=True), WORK) > stack_reads(LAYER, WORK)
