"""Knows how to find out which of the layers that every operator has some kernels take, and that they are right there.
Does not know any kernel, nor how one is timed.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.plans.layer import matched
from tilewright.testing.kernels.kernel_run import UBSAN, run_kernel
from tilewright.testing.one_step import vocabulary
from tilewright.testing.operator_layers import every_layer
from tilewright.testing.operator_sites import result_errors, site_of


def layers_taken(kernels: Sequence[Kernel], folder: Path, flags: Sequence[str] = UBSAN) -> dict[str, set[str]]:
    """Kernel -> the kinds of layers of `every_layer` that it takes, each run once, in the layouts that it prefers.

    AssertionError where bytes beside an output change, where integers are not equal to the reference bit for bit, or
    where floats are outside the error model.
    """
    taken: dict[str, set[str]] = {kernel.name: set() for kernel in kernels}
    ops = {kernel.op for kernel in kernels}
    for sample in every_layer():
        if sample.op not in ops:
            continue
        operator = vocabulary()[sample.op]
        site = site_of(operator, sample.inputs, sample.attributes, sample.constants)
        for kernel in kernels:
            layer = matched(operator, kernel, site) if kernel.op == sample.op else "of another operator"
            if isinstance(layer, str):
                continue
            layouts = {**layer.preferred, **layer.required}
            found = run_kernel(operator, kernel, site, sample.inputs, folder=folder, layouts=layouts, flags=flags)
            errors = result_errors(operator, site, sample.inputs, found)
            assert errors == [], f"{kernel.name} on {sample.name}: {errors}"
            taken[kernel.name].add(sample.kind)
    return taken
