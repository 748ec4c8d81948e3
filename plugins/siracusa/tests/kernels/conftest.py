"""Holds a kernel's answer against the reference: whole, and in tiles that respect its multiples."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import pytest

from tilewright.graph import Site
from tilewright.kernel import Kernel
from tilewright.operands import kernel_access
from tilewright.operator import Operator
from tilewright.testing.kernel_checks import random_cuts, random_layouts
from tilewright.testing.kernel_run import STRICT, run_kernel
from tilewright.testing.kernel_tiles import run_tiled

Array = npt.NDArray[np.generic]
Check = Callable[[Operator, Kernel, Site, Sequence[Array | None], np.random.Generator], None]
UBSAN = (*STRICT, "-fsanitize=undefined", "-fno-sanitize-recover=all")


@pytest.fixture(scope="session", name="check")
def _check(tmp_path_factory: pytest.TempPathFactory) -> Check:
    def equal(
        operator: Operator, kernel: Kernel, site: Site, inputs: Sequence[Array | None], rng: np.random.Generator
    ) -> None:
        folder = tmp_path_factory.mktemp("c")
        free = {
            name: order for name, order in random_layouts(operator, site, rng).items() if name not in kernel.pack(site)
        }
        layouts = {**free, **kernel.prefers(site), **kernel.requires(site)}
        (wanted,) = operator.reference(site, inputs)
        (found,) = run_kernel(operator, kernel, site, inputs, folder=folder, layouts=layouts, flags=UBSAN)
        assert np.array_equal(found, wanted)
        cuts = {
            loop: -(-size // kernel.multiples.get(loop, 1)) * kernel.multiples.get(loop, 1)
            for loop, size in random_cuts(kernel_access(operator, kernel, site), rng).items()
        }
        (found,) = run_tiled(operator, kernel, site, inputs, cuts=cuts, folder=folder, layouts=layouts, flags=UBSAN)
        assert np.array_equal(found, wanted), cuts

    return equal
