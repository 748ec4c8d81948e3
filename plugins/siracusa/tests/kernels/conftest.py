"""Holds a kernel against the reference: whole, in tiles that respect its multiples, and in parts of its sums."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from tilewright.api import align_up
from tilewright.api.testing import (
    STRICT,
    every_layer,
    random_cuts,
    random_layouts,
    random_parts,
    refusal,
    result_errors,
    run_kernel,
    run_tiled,
    site_of,
    vocabulary,
)
from tilewright.ir.graph import Site
from tilewright.ir.kernel import Kernel
from tilewright.ir.layer import layer_of
from tilewright.ir.operator import Operator

Array = npt.NDArray[np.generic]
Check = Callable[[Operator, Kernel, Site, Sequence[Array | None], np.random.Generator], None]
UBSAN = (*STRICT, "-fsanitize=undefined", "-fno-sanitize-recover=all")


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
        layouts = {**free, **layer.preferred, **layer.required}
        (wanted,) = operator.reference(site, inputs)
        (found,) = run_kernel(operator, kernel, site, inputs, folder=folder, layouts=layouts, flags=UBSAN)
        assert np.array_equal(found, wanted)
        cuts, parts = in_multiples(kernel, random_cuts(layer.access, rng)), random_parts(layer, rng)
        for chosen in (cuts, {**cuts, **parts}) if parts else (cuts,):
            (found,) = run_tiled(
                operator, kernel, site, inputs, cuts=chosen, folder=folder, layouts=layouts, flags=UBSAN
            )
            assert np.array_equal(found, wanted), chosen

    return equal


@pytest.fixture(name="agrees")
def _agrees(tmp_path: Path) -> Callable[[Kernel], set[str]]:
    """The kinds of layers, of those that every operator of the core has, that a kernel takes; it has been called for
    them between guards, and integers were equal bit for bit, floats inside the error model."""

    def run(kernel: Kernel) -> set[str]:
        taken = set()
        for sample in every_layer():
            operator = vocabulary()[sample.op]
            site = site_of(operator, sample.inputs, sample.attributes, sample.constants)
            if sample.op == kernel.op and refusal(kernel, site) is None:
                layer = layer_of(operator, kernel, site)
                layouts = {**layer.preferred, **layer.required}
                found = run_kernel(operator, kernel, site, sample.inputs, folder=tmp_path, layouts=layouts, flags=UBSAN)
                assert result_errors(operator, site, sample.inputs, found) == [], sample.name
                taken.add(sample.kind)
        return taken

    return run
