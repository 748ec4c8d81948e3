"""Knows the tests that every package with a target gets: `pytest --tilewright-target NAME` collects this module.
Does not know any target.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tilewright.ir.plans.layer import layer_of, matched
from tilewright.testing.kernels.kernel_costs import cost_faults, throughput_fault
from tilewright.testing.kernels.kernel_faults import kernel_faults
from tilewright.testing.operator_layers import every_layer
from tilewright.testing.operator_sites import Sample, site_of
from tilewright.testing.package_offers import Offered, offered_by
from tilewright.testing.pass_faults import pass_faults
from tilewright.testing.random_networks import KINDS, random_network

_ADD = "Add one in tests/conftest.py: def pytest_tilewright_layers(): return [Sample(...)]"
_NETWORKS = ("sequence",)  # enough to see whether anything depends on chance

if TYPE_CHECKING:
    from tilewright.ir.graphs.graph import Site
    from tilewright.ir.graphs.operator import GraphPass
    from tilewright.ir.machines.kernel import Kernel


def pytest_generate_tests(metafunc: Any) -> None:
    """A test for each kernel and each layer that it takes, one for each kernel that takes none, one for each pass."""
    config = metafunc.config
    offered = offered_by(config.getoption("tilewright_target"))
    names = metafunc.fixturenames
    if "layer" in names:
        cases = list(_taken(offered, _layers(config)))
        ids = [f"{kernel.name}-{layer.name}" for kernel, layer in cases]
        metafunc.parametrize(("kernel", "layer"), cases, ids=ids)
    elif "kernel" in names:
        metafunc.parametrize("kernel", offered.kernels, ids=lambda kernel: kernel.name)
    elif "graph_pass" in names:
        metafunc.parametrize("graph_pass", offered.graph_passes, ids=lambda graph_pass: graph_pass.name)


@pytest.fixture(name="offered")
def _offered(request: pytest.FixtureRequest) -> Offered:
    return offered_by(request.config.getoption("tilewright_target"))


@pytest.fixture(name="seed")
def _seed(request: pytest.FixtureRequest) -> int:
    return int(request.config.getoption("tilewright_seed"))


def test_kernel(offered: Offered, kernel: Kernel, layer: Sample, seed: int, tmp_path: Path) -> None:
    """The C of a kernel computes a layer: whole, in place, in tiles, in parts, in any layout that it allows."""
    operator, site = offered.operators[layer.op], _site(offered, layer)
    align = offered.platform.buffer_align
    faults = kernel_faults(operator, kernel, site, layer.inputs, folder=tmp_path, seed=seed, align=align)
    fault = throughput_fault(layer_of(operator, kernel, site), offered.platform)
    _judge(offered, [*faults, *([fault] if fault else [])])


def test_kernel_is_tried(offered: Offered, kernel: Kernel, request: pytest.FixtureRequest) -> None:
    """A layer of this suite, or of the package's own tests, is one that the kernel takes."""
    layers = [layer for layer in _layers(request.config) if layer.op == kernel.computes]
    answers = {
        layer.name: matched(offered.operators[kernel.computes], kernel, _site(offered, layer)) for layer in layers
    }
    refusals = [f"{name}: {answer}" for name, answer in answers.items() if isinstance(answer, str)]
    if len(refusals) == len(layers):
        why = "; ".join(refusals) or f"there is none of {kernel.computes}"
        pytest.fail(f"kernel '{kernel.name}' takes no layer here: {why}. {_ADD}", pytrace=False)


def test_cost(offered: Offered, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """Steps take the time that was estimated, as far as the runner counts cycles."""
    name = request.config.getoption("tilewright_runner")
    if not name:
        pytest.skip("--tilewright-runner NAME names a runner that counts cycles")
    registry = offered.with_runner(name)
    faults = []
    layers = {layer.name: layer for _, layer in _taken(offered, _layers(request.config))}
    for number, layer in enumerate(layers.values()):
        folder = tmp_path / str(number)
        folder.mkdir()
        faults += cost_faults(
            _site(offered, layer), layer.inputs, offered.platform.name, registry, registry.runners[name], folder
        )
    _judge(offered, faults)


def test_graph_pass(offered: Offered, graph_pass: GraphPass, seed: int) -> None:
    """A pass leaves its graph alone, answers the same twice, and computes what was computed before."""
    faults = []
    for kind in sorted(KINDS):
        network = random_network(kind, seed, offered.operators)
        faults += pass_faults(graph_pass, network.graph, offered.operators, network.feeds, offered.platform)
    _judge(offered, sorted(set(faults)))


@pytest.mark.parametrize("kind", _NETWORKS)
def test_compiling_twice_gives_the_same_files(offered: Offered, kind: str, seed: int) -> None:
    """Nothing depends on when, where, or how often something is asked."""
    first, second = (offered.compiled_files(kind, seed) for _ in range(2))
    different = [name for name in sorted({*first, *second}) if first.get(name) != second.get(name)]
    _judge(offered, [f"'{name}' is another file when the same network is compiled again" for name in different])


def _layers(config: pytest.Config) -> list[Sample]:
    """Those of the core, and those that a conftest.py adds."""
    added = config.hook.pytest_tilewright_layers()
    return [*every_layer(config.getoption("tilewright_seed")), *(layer for layers in added for layer in layers)]


def _taken(offered: Offered, layers: Sequence[Sample]) -> Iterator[tuple[Kernel, Sample]]:
    for kernel in offered.kernels:
        for layer in layers:
            if layer.op != kernel.computes or not {"*", _site(offered, layer).node.rounding}.intersection(
                kernel.roundings
            ):
                continue
            if not isinstance(matched(offered.operators[kernel.computes], kernel, _site(offered, layer)), str):
                yield kernel, layer


def _site(offered: Offered, layer: Sample) -> Site:
    return site_of(offered.operators[layer.op], layer.inputs, layer.attributes, layer.constants)


def _judge(offered: Offered, faults: list[str]) -> None:
    if faults:
        pytest.fail("\n".join([f"package {offered.package}:", *faults]), pytrace=False)
