"""The memory that an error asks for: planning with it succeeds, with a grain less it does not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from networks import network_file
from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.errors import TilewrightError
from tilewright.plan.kernel_fallback import Fitting
from tilewright.plan.proposals.planner import Planner
from tilewright.testing.cluster import CLUSTER, RUNTIME_BYTES, registry_for

GRAIN = 8  # of the made-up cluster's scratchpad


def saved(folder: Path, seed: int) -> Path:
    """A convolution, a pool, a matrix product whose rows go through a softmax: extents drawn."""
    numbers = np.random.default_rng(seed)
    channels, outputs, side, classes = (
        int(numbers.integers(low, high)) for low, high in ((3, 60), (2, 20), (6, 12), (5, 90))
    )
    flat = outputs * (side // 2) ** 2

    def constant(name: str, *shape: int) -> onnx.TensorProto:
        return numpy_helper.from_array(numbers.standard_normal(shape).astype(np.float32), name)

    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], pads=[1, 1, 1, 1]),
        helper.make_node("MaxPool", ["c"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Flatten", ["p"], ["f"]),
        helper.make_node("Gemm", ["f", "m"], ["g"], transB=1),
        helper.make_node("Softmax", ["g"], ["y"], axis=1),
    ]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, channels, side, side])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, classes])
    values = [constant("w", outputs, channels, 3, 3), constant("m", classes, flat)]
    graph = helper.make_graph(nodes, "drawn", [x], [y], values)
    path = folder / f"drawn{seed}.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), str(path))
    return path


def refusal(model: Path, scratchpad_bytes: int, tiler: str = "auto") -> TilewrightError | None:
    """Why there is no plan; None where there is one."""
    options = Options(memory={"l1": scratchpad_bytes}, tiler=tiler)
    try:
        _ = Deployment(model, CLUSTER.name, options, registry_for(CLUSTER, tiler=tiler)).allocated
    except TilewrightError as error:
        return error
    return None


def asked_for(error: TilewrightError | None) -> int:
    assert error is not None and error.code == "TW5101"
    (line,) = error.fix
    return int(line.split("=")[1].split()[0])


@pytest.mark.slow
@pytest.mark.parametrize("tiler", ["auto", "min"])
@pytest.mark.parametrize("seed", range(4))
def test_what_is_asked_for_is_the_least_that_does(tmp_path: Path, seed: int, tiler: str) -> None:
    model = saved(tmp_path, seed)
    least = asked_for(refusal(model, RUNTIME_BYTES + 16, tiler))
    assert refusal(model, least, tiler) is None
    assert asked_for(refusal(model, least - GRAIN, tiler)) == least


def test_all_steps_that_no_tile_fits_are_known_at_once(tmp_path: Path) -> None:
    """Or another kernel would be tried for one after the other, and all be planned again for each."""
    error = refusal(saved(tmp_path, 0), RUNTIME_BYTES + 16)
    assert error is not None
    steps = [one.subject for one in (error, *error.others)]
    assert len(steps) == len(set(steps)) >= 4
    assert all(one.needs is not None and not one.others for one in error.others)


@pytest.mark.slow
@pytest.mark.parametrize("network", ["ad_int8", "resnet8_int8"])
def test_of_whole_networks_as_well(network: str) -> None:
    model = network_file(network)
    least = asked_for(refusal(model, RUNTIME_BYTES + 40))
    assert refusal(model, least) is None
    assert refusal(model, least - GRAIN) is not None


def test_a_machine_is_settled_for_the_kernels_that_are_exchanged(tmp_path: Path) -> None:
    """As for those that were bound first: stacks that sufficed these may be too small for others."""
    machine = replace(CLUSTER, settle_kernels=lambda platform, kernels: replace(platform, summary=" ".join(kernels)))
    first = Deployment(saved(tmp_path, 0), CLUSTER.name, Options(), registry_for(machine)).bound
    others = {name: replace(one, kernel=replace(one.kernel, name="other")) for name, one in first.bindings.items()}
    fitting = Fitting(planner=cast(Planner, None), rebind=lambda kernels: replace(first, bindings=others))
    assert fitting.rebind is not None
    found = fitting._with_kernels(first, fitting.rebind, {})
    assert found.platform.summary == "other"
    assert found.platform.bound_kernels == {"other"} != first.platform.bound_kernels
