"""Knows the tests that every package with a target gets: `pytest --tilewright-target NAME` collects this module.
Does not know any target.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tilewright.errors import TilewrightError
from tilewright.ir.plans.layer import layer_of, matched
from tilewright.testing.kernels.kernel_costs import cost_faults, throughput_fault
from tilewright.testing.kernels.kernel_faults import kernel_faults
from tilewright.testing.kernels.kernel_stack import stack_fault
from tilewright.testing.kernels.stored_layers import as_called, asked_about
from tilewright.testing.operator_layers import every_layer
from tilewright.testing.operator_sites import Sample
from tilewright.testing.package_offers import Offered, offered_by
from tilewright.testing.pass_faults import pass_faults
from tilewright.testing.random_networks import KINDS, random_network
from tilewright.testing.runner_faults import runner_faults
from tilewright.testing.sample_faults import failure_in_package, layer_site, sample_fault

_ADD = "Add one in tests/conftest.py: def pytest_tilewright_layers(): return [Sample(...)]"
_NETWORKS = ("sequence",)  # enough to see whether anything depends on chance

if TYPE_CHECKING:
    from tilewright.ir.graphs.graph import Site
    from tilewright.ir.graphs.operator import GraphPass, Operator
    from tilewright.ir.machines.kernel import Kernel
    from tilewright.ir.plans.layer import Layer


def pytest_generate_tests(metafunc: Any) -> None:
    """A test for each kernel and each layer that it takes, one for each kernel, each added layer, each pass."""
    config = metafunc.config
    offered = offered_by(config.getoption("tilewright_target"))
    names = metafunc.fixturenames
    if "layer" in names:
        cases = list(_taken(offered, _layers(config)))
        ids = [f"{kernel.name}-{layer.name}" for kernel, layer in cases]
        metafunc.parametrize(("kernel", "layer"), cases, ids=ids)
    elif "added" in names:
        metafunc.parametrize("added", _added(config), ids=lambda layer: layer.name)
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


def test_layer(offered: Offered, added: Sample) -> None:
    """A layer that the package adds is one of its operator."""
    if fault := sample_fault(added, offered.operators):
        tried = [f"'{kernel.name}'" for kernel in offered.kernels if asked_about(kernel) == added.op]
        _judge(offered.package, [f"{fault}. No kernel is tried on it{': ' if tried else ''}{', '.join(tried)}"])


def test_kernel(offered: Offered, kernel: Kernel, layer: Sample, seed: int, tmp_path: Path) -> None:
    """The C of a kernel computes a layer: whole, in place, in tiles, in parts, in any layout that it allows."""
    operator, site = offered.operators[layer.op], layer_site(layer, offered.operators)
    assert site is not None, "no case of this test"
    align = offered.platform.buffer_align
    try:
        faults = kernel_faults(operator, kernel, site, layer.inputs, folder=tmp_path, seed=seed, align=align)
        fault = throughput_fault(_called(operator, kernel, site, layer)[0], offered.platform)
    except TilewrightError as error:
        raise pytest.fail(f"package {offered.owner('kernel', kernel.name)}:\n{error}", pytrace=False) from error
    except Exception as error:  # whatever a function of a kernel raises
        faults, fault = [f"kernel '{kernel.name}' fails on layer {layer.name}: {failure_in_package(error)}"], None
    _judge(offered.owner("kernel", kernel.name), [*faults, *([fault] if fault else [])])


def test_kernel_is_tried(offered: Offered, kernel: Kernel, request: pytest.FixtureRequest) -> None:
    """A layer of this suite, or of the package's own tests, is one that the kernel takes."""
    layers = [layer for layer in _layers(request.config) if layer.op == asked_about(kernel)]
    answers = [(layer.name, _answer(offered, kernel, layer)) for layer in layers]
    refusals = [f"{name}: {answer}" for name, answer in answers if isinstance(answer, str)]
    if len(refusals) == len(layers):
        why = "; ".join(refusals) or f"there is none of {asked_about(kernel)}"
        said = f"kernel '{kernel.name}' takes no layer here: {why}. {_ADD}"
        _judge(offered.owner("kernel", kernel.name), [said])


def test_stack(offered: Offered, kernel: Kernel, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """No function of a kernel has more locals than the target has stack, as far as it says."""
    room = sum(offered.platform.runtime_bytes.values())
    layer = next(_taken_by(kernel, offered, _layers(request.config)), None) if room else None
    site = layer_site(layer, offered.operators) if layer else None
    if layer is None or site is None:
        pytest.skip("the target says nothing of stacks, or the kernel takes no layer here")
    fault = stack_fault(*_called(offered.operators[layer.op], kernel, site, layer), room, tmp_path)
    _judge(offered.owner("kernel", kernel.name), [fault] if fault else [])


def test_cost(offered: Offered, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """Steps take the time that was estimated, as far as the runner counts cycles."""
    _judge(offered.package, _on_runner(offered, request, tmp_path, cost_faults))


def test_runner(offered: Offered, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """Programs of one layer compute on the runner what they do on a runner of the core."""
    _judge(offered.package, _on_runner(offered, request, tmp_path, runner_faults))


def _on_runner(
    offered: Offered, request: pytest.FixtureRequest, folder: Path, faults_of: Callable[..., list[str]]
) -> list[str]:
    """What is found on the runner that was named, of every layer that is taken."""
    name = request.config.getoption("tilewright_runner")
    if not name:
        pytest.skip("--tilewright-runner NAME names a runner")
    registry = offered.with_runner(name)
    faults = []
    layers = {layer.name: layer for _, layer in _taken(offered, _layers(request.config))}
    for number, layer in enumerate(layers.values()):
        own, site = folder / str(number), layer_site(layer, offered.operators)
        own.mkdir()
        assert site is not None, "of no kernel"
        faults += faults_of(site, layer.inputs, offered.platform.name, registry, registry.runners[name], own)
    return faults


def test_graph_pass(offered: Offered, graph_pass: GraphPass, seed: int) -> None:
    """A pass leaves its graph alone, answers the same twice, and computes what was computed before."""
    faults = []
    for kind in sorted(KINDS):
        network = random_network(kind, seed, offered.operators)
        faults += pass_faults(graph_pass, network.graph, offered.operators, network.feeds, offered.platform)
    _judge(offered.owner("graph_pass", graph_pass.name), sorted(set(faults)))


@pytest.mark.parametrize("kind", _NETWORKS)
def test_compiling_twice_gives_the_same_files(offered: Offered, kind: str, seed: int) -> None:
    """Nothing depends on when, where, or how often something is asked."""
    first, second = (offered.compiled_files(kind, seed) for _ in range(2))
    different = [name for name in sorted({*first, *second}) if first.get(name) != second.get(name)]
    _judge(offered.package, [f"'{name}' is another file when the same network is compiled again" for name in different])


def _added(config: pytest.Config) -> list[Sample]:
    """The layers that a conftest.py adds."""
    return [layer for layers in config.hook.pytest_tilewright_layers() for layer in layers]


def _layers(config: pytest.Config) -> list[Sample]:
    """Those of the core, and those that are added."""
    return [*every_layer(config.getoption("tilewright_seed")), *_added(config)]


def _taken(offered: Offered, layers: Sequence[Sample]) -> Iterator[tuple[Kernel, Sample]]:
    """Every kernel with the layers that it takes, and those on which it fails."""
    for kernel in offered.kernels:
        yield from ((kernel, layer) for layer in _taken_by(kernel, offered, layers))


def _taken_by(kernel: Kernel, offered: Offered, layers: Sequence[Sample]) -> Iterator[Sample]:
    for layer in layers:
        site = layer_site(layer, offered.operators) if layer.op == asked_about(kernel) else None
        if site is None or not {"*", site.node.rounding}.intersection(kernel.roundings):
            continue
        if not isinstance(_answer(offered, kernel, layer), str):
            yield layer


def _answer(offered: Offered, kernel: Kernel, layer: Sample) -> object:
    """The refusal of a kernel of the layer's operator; something else where it takes the layer, or fails."""
    site = layer_site(layer, offered.operators)
    if site is None:
        return "no layer"
    try:
        called = as_called(offered.operators[layer.op], kernel, site, layer.inputs)
        return called if isinstance(called, str) else matched(called.operator, called.kernel, called.site)
    except Exception as error:  # raised again where the kernel is tried
        return error


def _called(operator: Operator, kernel: Kernel, site: Site, layer: Sample) -> tuple[Layer, Sequence[Any]]:
    """A layer that a kernel takes, as it is called, and what it is given."""
    called = as_called(operator, kernel, site, layer.inputs)
    assert not isinstance(called, str), "it was asked before"
    return layer_of(called.operator, called.kernel, called.site), called.inputs


def _judge(package: str, faults: list[str]) -> None:
    if faults:
        pytest.fail("\n".join([f"package {package}:", *faults]), pytrace=False)
