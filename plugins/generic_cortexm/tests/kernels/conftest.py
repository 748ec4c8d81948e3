"""What kernels are expected to take for the layers that every operator of the core has."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from tilewright.api.graph import Site
from tilewright.api.kernel import Kernel
from tilewright.api.testing import (
    UBSAN,
    Sample,
    every_layer,
    result_errors,
    run_kernel,
    run_tiled,
    site_of,
    vocabulary,
)
from tilewright.ir.plans.layer import layer_of
from tilewright_cortexm.instructions import tables
from tilewright_cortexm.work import whole_work

FloatCase = tuple[Site, Sequence[npt.NDArray[np.generic] | None]]


@pytest.fixture(name="float_errors")
def _float_errors() -> Callable[..., list[str]]:
    """`float_errors(kernel, (site, inputs), folder, cuts)`: where C leaves the error model; `cuts` make tiles."""

    def of(kernel: Kernel, case: FloatCase, folder: Path, cuts: Mapping[str, int] | None = None) -> list[str]:
        site, inputs = case
        operator = vocabulary()[site.node.op]
        layouts = layer_of(operator, kernel, site).required
        if cuts is None:
            found = run_kernel(operator, kernel, site, inputs, folder=folder, layouts=layouts, flags=UBSAN)
        else:
            found = run_tiled(operator, kernel, site, inputs, cuts=cuts, folder=folder, layouts=layouts, flags=UBSAN)
        return result_errors(operator, site, inputs, found)

    return of


@pytest.fixture(name="layers", scope="session")
def _layers() -> dict[str, Sample]:
    return {layer.name: layer for layer in every_layer()}


@pytest.fixture(name="speedup")
def _speedup(layers: dict[str, Sample]) -> Callable[..., float]:
    """`speedup(kernel, name, other)`: how many times the instructions of `kernel`, for this layer, the `other` is
    expected to take; portable C where no other is given. ValueError where one of the kernels refuses the layer.
    """

    def of(kernel: Kernel, name: str, other: Kernel | None = None) -> float:
        layer = layers[name]
        site = site_of(vocabulary()[layer.op], layer.inputs, layer.attributes, layer.constants)
        used, base = (_instructions(one, site) for one in (kernel, other))
        assert used and base
        return base / used

    return of


def _instructions(kernel: Kernel | None, site: Site) -> float | None:
    if kernel is None:
        return tables()["m55"].of_portable(whole_work(site.node.op, site))
    return tables()["m55"].executed_by(kernel, layer_of(vocabulary()[kernel.op], kernel, site).whole)
