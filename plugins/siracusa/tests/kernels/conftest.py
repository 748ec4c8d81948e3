"""Holds a kernel against the reference in any layout it takes: whole, in tiles of its multiples, in parts of sums."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pytest

from tilewright.api import align_up
from tilewright.api.testing import (
    UBSAN,
    random_cuts,
    random_layouts,
    random_parts,
    result_errors,
)
from tilewright.ir.graphs.graph import Site
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.plans.layer import layer_of
from tilewright.testing.kernels.kernel_tiles import run_whole_and_tiled

Array = npt.NDArray[np.generic]
Check = Callable[[Operator, Kernel, Site, Sequence[Array | None], np.random.Generator], None]


def in_multiples(kernel: Kernel, cuts: Mapping[str, int]) -> dict[str, int]:
    """The cuts, rounded up to what the kernel takes."""
    return {loop: align_up(size, kernel.multiples.get(loop, 1)) for loop, size in cuts.items()}


@pytest.fixture(scope="session", name="check")
def _check(tmp_path_factory: pytest.TempPathFactory) -> Check:
    def equal(
        operator: Operator, kernel: Kernel, site: Site, inputs: Sequence[Array | None], rng: np.random.Generator
    ) -> None:
        folder = tmp_path_factory.mktemp("c")
        layer = layer_of(operator, kernel, site)
        free = {name: order for name, order in random_layouts(operator, site, rng).items() if name not in layer.packed}
        layouts = {**free, **layer.required}
        cuts, parts = in_multiples(kernel, random_cuts(layer.access, rng)), random_parts(layer, rng)
        every = (cuts, {**cuts, **parts}) if parts else (cuts,)
        how = {"folder": folder, "layouts": layouts, "flags": UBSAN}
        results = run_whole_and_tiled(operator, kernel, site, inputs, cuts=every, **how)
        for chosen, found in zip(({}, *every), results, strict=True):
            assert result_errors(operator, site, inputs, found) == [], (layouts, chosen)

    return equal
