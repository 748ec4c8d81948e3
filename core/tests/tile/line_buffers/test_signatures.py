"""What is found of steps that look alike is what is found of each of them."""

from __future__ import annotations

import numpy as np
import pytest

from row_networks import on_one_memory, row_network
from tilewright.ir.graphs.graph import Attribute
from tilewright.ir.tensors.dtypes import DType
from tilewright.testing.one_step import vocabulary
from tilewright.testing.sketch import Sketch
from tilewright.tile.line_buffers.analysis import LineBufferAnalysis
from tilewright.tile.line_buffers.lifetimes import Lifetimes
from tilewright.tile.line_buffers.partition import LineBufferSearch, line_buffer_search, overlaid_steps
from tilewright.tile.line_buffers.segments import Segment, overlaid_step, segments
from tilewright.tile.line_buffers.signatures import StepSignatures
from tilewright.tile.machine import ScheduledMachine

SAME: dict[str, Attribute] = {"kernel_shape": (3, 3), "strides": (1, 1), "pads": (1, 1, 1, 1), "dilations": (1, 1)}


def chain(layers: int, wide: int = -1) -> ScheduledMachine:
    """Convolutions in a row, every second one added to what it reads; number `wide` has weights of five by five."""
    sketch = Sketch(operators=vocabulary())
    value = sketch.input("x", DType.F32, (1, 4, 12, 12))
    for number in range(layers):
        taps = 5 if number == wide else 3
        own = {**SAME, "kernel_shape": (taps, taps), "pads": (taps // 2,) * 4, "group": 1}
        weights = sketch.constant(np.full((4, 4, taps, taps), float(number), np.float32))
        made = sketch.node("Conv", (value, weights), own)
        value = sketch.node("Add", (made, value)) if number % 2 else made
    return on_one_memory(sketch.finish(value))


def machine_of(seed: int) -> ScheduledMachine:
    """A random network, or a chain."""
    return on_one_memory(row_network(seed, vocabulary()).graph) if seed < 20 else chain(12, wide=seed - 20)


def found(alike: StepSignatures, *, forget: bool) -> list[list[Segment]]:
    """Every segment in little and in much memory; each for itself, if what was found before is forgotten."""
    every = list[list[Segment]]()
    for last in range(alike.lifetimes.beyond):
        for most in (1500, 5000, 1 << 30):
            every.append([*segments(alike, last, most), *overlaid_step(alike, last)])
            if forget:
                alike.lifetimes.known.found.clear()
    return every


@pytest.mark.parametrize("seed", range(24))
def test_alike_steps_have_the_segments_that_each_of_them_has(seed: int) -> None:
    machine = machine_of(seed)
    alike = StepSignatures(Lifetimes(LineBufferAnalysis(machine)))
    assert found(alike, forget=False) == found(StepSignatures(Lifetimes(LineBufferAnalysis(machine))), forget=True)


def regions_of(programs: LineBufferSearch, *, forget: bool) -> list[object]:
    """Of every division, with whose bytes they take."""
    every = list[object]()
    for division in programs.front():
        if forget:
            programs.lifetimes.known.found.clear()
        every.append((programs.regions(division), programs.least_bytes(division)))
    return every


@pytest.mark.parametrize("seed", range(24))
def test_alike_segments_take_bytes_as_each_of_them_does(seed: int) -> None:
    machine = machine_of(seed)
    first, second = line_buffer_search(machine), line_buffer_search(machine)
    assert regions_of(first, forget=False) == regions_of(second, forget=True)
    alone, divisions = overlaid_steps(machine, float("inf"))
    apart, _ = overlaid_steps(machine, float("inf"))
    for division in divisions:
        apart.lifetimes.known.found.clear()
        apart.links.clear()
        assert alone.regions(division) == apart.regions(division)


@pytest.mark.slow
def test_of_a_long_chain_few_segments_are_looked_at() -> None:
    counts = []
    for layers in (40, 80):
        alike = StepSignatures(Lifetimes(LineBufferAnalysis(chain(layers))))
        found(alike, forget=False)
        counts.append(len(alike.lifetimes.known.found))
    assert counts[1] < 1.2 * counts[0]


def test_another_kernel_or_another_reader_is_not_alike() -> None:
    plain, wide = (StepSignatures(Lifetimes(LineBufferAnalysis(chain(12, wide=number)))) for number in (-1, 6))
    middle = 9  # the seventh convolution
    assert plain.range_signature(middle, middle) == plain.range_signature(middle - 6, middle - 6)
    assert wide.range_signature(middle, middle) != wide.range_signature(middle - 6, middle - 6)
    assert plain.range_signature(middle, middle) != plain.range_signature(middle + 1, middle + 1)
