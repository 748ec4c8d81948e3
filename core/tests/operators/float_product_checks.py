"""What holds for every float product: the map is the reference, windows are hulls, the C is right in any layout."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from tilewright.ir.access.index_map import MapAccess
from tilewright.ir.graphs.graph import Site
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.plans.layer import layer_of
from tilewright.testing.kernels.kernel_tiles import run_whole_and_tiled
from tilewright.testing.operator_sites import points, position, result_errors, window_errors

Floats = npt.NDArray[np.floating]
Case = tuple[Operator, Kernel, Site, list[Floats | None]]
few = settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
compiled = settings.get_profile("programs")


def floats(draw: st.DrawFn, real: type[np.floating], *shape: int) -> Floats:
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    return random.standard_normal(shape).astype(real)


def either_real(draw: st.DrawFn) -> type[np.floating]:
    real: type[np.floating] = draw(st.sampled_from([np.float32, np.float64]))
    return real


def check_map(case: Case) -> None:
    operator, kernel, site, inputs = case
    (expected,) = operator.reference(site, inputs)
    named = {name: array for name, array in zip("ABC", inputs, strict=False) if array is not None}
    layer = layer_of(operator, kernel, site)
    for access, packed in ((operator.access(site), {}), (layer.access, layer.packed)):
        assert isinstance(access, MapAccess)
        access.verify()
        arrays = {**named, **packed}
        factor = 1.0 if "B" in packed else site.node.number("alpha", 1.0)
        bias_factor = 1.0 if "C" in packed else site.node.number("beta", 1.0)
        total = np.zeros(site.output.shape)
        for point in points(access):
            at, a, b = (position(access, name, point) for name in ("Y", "A", "B"))
            total[at] += factor * float(arrays["A"][a]) * float(arrays["B"][b])
            if "C" in arrays and point["k"] == 0:
                total[at] += bias_factor * float(arrays["C"][position(access, "C", point)])
        clipped = np.clip(total, site.node.number("clip_low", -np.inf), site.node.number("clip_high", np.inf))
        np.testing.assert_allclose(clipped, expected, rtol=1e-5, atol=1e-5)


def check_windows(case: Case, data: st.DataObject) -> None:
    operator, _, site, _ = case
    access = operator.access(site)
    assert isinstance(access, MapAccess)
    box = {}
    for loop in access.loops:
        low = data.draw(st.integers(0, loop.extent - 1))
        box[loop.name] = (low, data.draw(st.integers(low + 1, loop.extent)))
    assert window_errors(access, box) == []


def check_c(folder: Path, case: Case, data: st.DataObject) -> None:
    operator, kernel, site, inputs = case
    layer = layer_of(operator, kernel, site)
    ranks = {"A": len(site.input(0).shape), "B": len(site.input(1).shape), "Y": len(site.output.shape)}
    layouts = {name: tuple(data.draw(st.permutations(range(rank)))) for name, rank in ranks.items()}
    if layer.packed:
        del layouts["B"]
    cuts = {loop.name: data.draw(st.integers(1, 3)) for loop in operator.access(site).loops if loop.kind == "parallel"}
    every = [cuts, {**cuts, "k": 2}]
    for found in run_whole_and_tiled(operator, kernel, site, inputs, cuts=every, folder=folder, layouts=layouts):
        assert result_errors(operator, site, inputs, found) == []
