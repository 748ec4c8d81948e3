"""Knows how to compare kernels with their operators' references: one in one call, whole, in tiles, in any layouts; and
several on every layer that they take. Does not know any kernel, nor how one is timed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tilewright.ir.access.index_map import Access
from tilewright.ir.graphs.graph import Site
from tilewright.ir.graphs.operator import Operator, input_names
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.plans.layer import Layer, matched
from tilewright.ir.rounding import align_up
from tilewright.ir.tensors.layout import Layout
from tilewright.testing.kernels.kernel_tiles import run_whole_and_tiled
from tilewright.testing.operator_sites import result_errors

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]
from tilewright.testing.kernels.kernel_run import UBSAN, run_kernel
from tilewright.testing.one_step import vocabulary
from tilewright.testing.operator_layers import every_layer
from tilewright.testing.operator_sites import site_of


def kernel_errors(
    operator: Operator,
    kernel: Kernel,
    site: Site,
    inputs: Sequence[Array | None],
    random: np.random.Generator,
    folder: Path,
) -> list[str]:
    """What is wrong with `kernel` on `site`: refused, or different from the reference. Empty when right.

    It runs once whole and once in tiles of random size, multiples of what the kernel takes, every operand in a random
    layout unless the kernel requires one.
    """
    layer = matched(operator, kernel, site)
    if isinstance(layer, str):
        return [f"refused: {layer}"]
    layouts = {**random_layouts(operator, site, random), **layer.required}
    cuts = in_multiples(random_cuts(layer.access, random), kernel)
    whole, tiled = run_whole_and_tiled(operator, kernel, site, inputs, cuts=[cuts], folder=folder, layouts=layouts)
    return [
        f"{how}, layouts {dict(layouts)}: {error}"
        for how, results in (("whole", whole), (f"in tiles {dict(cuts)}", tiled))
        for error in result_errors(operator, site, inputs, results)
    ]


def random_layouts(operator: Operator, site: Site, random: np.random.Generator) -> Mapping[str, Layout]:
    """A layout for every operand, row-major one time in three."""
    tensors = [*zip(input_names(operator, site), site.inputs, strict=True)]
    tensors += zip(operator.outputs, site.outputs, strict=False)
    layouts: dict[str, Layout] = {}
    plain = random.integers(3) == 0
    for operand, tensor in tensors:
        if tensor is not None:
            rank = len(tensor.shape)
            layouts[operand] = tuple(range(rank)) if plain else tuple(int(axis) for axis in random.permutation(rank))
    return layouts


def random_cuts(access: Access, random: np.random.Generator) -> Mapping[str, int]:
    """A tile extent for some of the parallel loops."""
    loops = [loop for loop in access.loops if loop.kind == "parallel" and loop.extent > 1 and random.integers(3)]
    return {loop.name: int(random.integers(1, loop.extent + 1)) for loop in loops}


def in_multiples(cuts: Mapping[str, int], kernel: Kernel) -> Mapping[str, int]:
    """The cuts, each up to a multiple of what the kernel takes."""
    return {loop: align_up(size, kernel.multiples.get(loop, 1)) for loop, size in cuts.items()}


def random_parts(layer: Layer, random: np.random.Generator) -> Mapping[str, int]:
    """A tile extent, a multiple of what the kernel takes, for some of the reductions that it can split."""
    form = layer.sums
    extents = {loop.name: loop.extent for loop in layer.access.loops}
    some = [loop for loop in form.loops if extents[loop] > 1 and random.integers(4)] if form else []
    sizes = {loop: int(random.integers(1, extents[loop])) for loop in some}
    grains = {loop: layer.kernel.multiples.get(loop, 1) for loop in some}
    return {loop: align_up(size, grains[loop]) for loop, size in sizes.items()}


def layers_taken(kernels: Sequence[Kernel], folder: Path, flags: Sequence[str] = UBSAN) -> dict[str, set[str]]:
    """Kernel -> the kinds of layers of `every_layer` that it takes, each run once, in the layouts that it prefers.

    AssertionError where bytes beside an output change, where integers are not equal to the reference bit for bit, or
    where floats are outside the error model.
    """
    taken: dict[str, set[str]] = {kernel.name: set() for kernel in kernels}
    ops = {kernel.computes for kernel in kernels}
    for sample in every_layer():
        if sample.op not in ops:
            continue
        operator = vocabulary()[sample.op]
        site = site_of(operator, sample.inputs, sample.attributes, sample.constants)
        for kernel in kernels:
            layer = matched(operator, kernel, site) if kernel.computes == sample.op else "of another operator"
            if isinstance(layer, str):
                continue
            layouts = {**layer.preferred, **layer.required}
            results = run_kernel(operator, kernel, site, sample.inputs, folder=folder, layouts=layouts, flags=flags)
            errors = result_errors(operator, site, sample.inputs, results)
            assert errors == [], f"{kernel.name} on {sample.name}: {errors}"
            taken[kernel.name].add(sample.kind)
    return taken
