"""Kernels on the layers that every operator of the core has: which they take, and that they agree with references."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tilewright.api.kernel import Kernel
from tilewright.api.testing import STRICT, Sample, every_layer, refusal, run_kernel, site_of, vocabulary
from tilewright.ir.layer import layer_of
from tilewright_cortexm.portable import portable_cycles

UBSAN = (*STRICT, "-fsanitize=undefined", "-fno-sanitize-recover=all")
Agrees = Callable[[Kernel], set[str]]


@pytest.fixture(name="layers", scope="session")
def _layers() -> dict[str, Sample]:
    return {layer.name: layer for layer in every_layer()}


@pytest.fixture(name="agrees")
def _agrees(layers: dict[str, Sample], tmp_path: Path) -> Agrees:
    """The kinds of layers that a kernel takes; it has been called between guards, and was equal bit for bit."""

    def run(kernel: Kernel) -> set[str]:
        taken = set()
        for layer in layers.values():
            operator = vocabulary()[layer.op]
            site = site_of(operator, layer.inputs, layer.attributes, layer.constants)
            if layer.op != kernel.op or refusal(kernel, site) is not None:
                continue
            layouts = layer_of(operator, kernel, site).required
            (found,) = run_kernel(operator, kernel, site, layer.inputs, folder=tmp_path, layouts=layouts, flags=UBSAN)
            assert np.array_equal(found, operator.reference(site, layer.inputs)[0]), layer.name
            taken.add(layer.kind)
        return taken

    return run


@pytest.fixture(name="cost")
def _cost(layers: dict[str, Sample]) -> Callable[[Kernel, str], float | None]:
    """What a kernel takes for a layer, by the layer's name; None where it refuses it."""

    def of(kernel: Kernel, name: str) -> float | None:
        layer = layers[name]
        operator = vocabulary()[layer.op]
        site = site_of(operator, layer.inputs, layer.attributes, layer.constants)
        if refusal(kernel, site) is not None or kernel.cycles is None:
            return None
        return kernel.cycles(layer_of(operator, kernel, site).whole)

    return of


@pytest.fixture(name="portable")
def _portable(layers: dict[str, Sample]) -> Callable[[str], float]:
    """What portable C takes for a layer, by the layer's name."""

    def of(name: str) -> float:
        layer = layers[name]
        found = portable_cycles(site_of(vocabulary()[layer.op], layer.inputs, layer.attributes, layer.constants))
        assert found is not None
        return found

    return of
