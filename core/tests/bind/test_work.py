"""How much work a node is: what was measured of portable C, or its operations."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tilewright.bind.candidates import operations
from tilewright.ir.graphs.graph import Site
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.machines.platform import Engine, Memory, Platform
from tilewright.testing.one_step import vocabulary
from tilewright.testing.operator_sites import site_of

ENGINE = Engine(name="cpu", cores=4, operations_per_cycle=2.0)
PLATFORM = Platform(name="p", memories=(Memory(name="ram", size_bytes=None),), engines=(ENGINE,))
PORTABLE, OWN = Kernel(name="portable", op="Add"), Kernel(name="own", op="Add", target="p")


def site(op: str, *shapes: tuple[int, ...]) -> Site:
    return site_of(vocabulary()[op], [np.zeros(shape, np.float32) for shape in shapes])


def of(kernel: Kernel, op: str, *shapes: tuple[int, ...], platform: Platform = PLATFORM) -> float:
    return operations(kernel, vocabulary()[op], site(op, *shapes), platform, ENGINE)


def test_multiplications_or_where_there_are_none_elements() -> None:
    assert of(PORTABLE, "MatMul", (3, 5), (5, 7)) == 3 * 5 * 7
    assert of(PORTABLE, "Add", (3, 5), (3, 5)) == 15


def test_what_was_measured_of_portable_c_counts_as_what_takes_that_long() -> None:
    measured = replace(PLATFORM, portable_cycles=lambda site: 100.0)
    work = of(PORTABLE, "Add", (3, 5), (3, 5), platform=measured)
    assert work / ENGINE.operations_per_cycle * ENGINE.cores == 100
    assert of(OWN, "Add", (3, 5), (3, 5), platform=measured) == 15, "not of a kernel of the target's"
    unknown = replace(PLATFORM, portable_cycles=lambda site: None)
    assert of(PORTABLE, "Add", (3, 5), (3, 5), platform=unknown) == 15
