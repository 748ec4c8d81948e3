"""The suite on a machine that is made up: every kernel is tried on the layers that it takes, and a fault names it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tilewright.ir.graphs.graph import Site
from tilewright.ir.machines.kernel import Kernel
from tilewright.plugins.registry import Provenance
from tilewright.testing import target_suite
from tilewright.testing.cluster import CLUSTER, registry_for
from tilewright.testing.one_step import portable_kernels
from tilewright.testing.operator_layers import every_layer
from tilewright.testing.package_offers import Offered

NEG = replace(portable_kernels()["portable.neg"], name="acme.neg", target=CLUSTER.name)
LAYER = next(layer for layer in every_layer() if layer.op == "Neg")


def offered(kernel: Kernel) -> Offered:
    registry = registry_for(CLUSTER)
    acme, other = (Provenance(distribution=name, version="1.2") for name in ("acme", "machine"))
    owners = {**registry.provenance, ("kernel", kernel.name): acme, ("platform", CLUSTER.name): other}
    kernels = {**registry.kernels, kernel.name: kernel}
    return Offered(platform=CLUSTER, registry=replace(registry, kernels=kernels, provenance=owners))


def test_a_kernel_is_tried_on_the_layers_that_it_takes() -> None:
    taken = list(target_suite._taken(offered(NEG), every_layer()))
    assert [(kernel.name, layer.name) for kernel, layer in taken] == [("acme.neg", "Neg")]
    assert list(target_suite._taken(offered(replace(NEG, match=lambda _: "never")), every_layer())) == []


def test_a_right_kernel_passes_and_a_wrong_one_is_named_with_its_package(tmp_path: Path) -> None:
    target_suite.test_kernel(offered(NEG), NEG, LAYER, 0, tmp_path)
    wrong = replace(NEG, call=f"{NEG.call} (*${{Y}}) += 1;")
    with pytest.raises(pytest.fail.Exception, match=r"package acme 1.2:\nkernel 'acme.neg' \(C: .*\) whole: "):
        target_suite.test_kernel(offered(wrong), wrong, LAYER, 0, tmp_path)


def test_a_cost_that_is_too_low_fails_the_kernel(tmp_path: Path) -> None:
    cheap = replace(NEG, cycles=lambda tile: 0.001)
    with pytest.raises(pytest.fail.Exception, match="correct `cycles` of the kernel, or the engine"):
        target_suite.test_kernel(offered(cheap), cheap, LAYER, 0, tmp_path)


def test_a_function_that_fails_is_named_with_its_package(tmp_path: Path) -> None:
    def fails(site: Site) -> None:
        raise IndexError("list index out of range")

    broken = replace(NEG, match=fails)
    assert list(target_suite._taken(offered(broken), [LAYER])) == [(broken, LAYER)], "so that it is told"
    wanted = (
        r"package acme 1.2:\nkernel 'acme.neg' fails on layer Neg: IndexError: list index out of range in "
        r".*\.fails at testing/test_target_suite.py:\d+"
    )
    with pytest.raises(pytest.fail.Exception, match=wanted):
        target_suite.test_kernel(offered(broken), broken, LAYER, 0, tmp_path)


def test_a_layer_that_is_none_fails_by_its_name_with_the_kernels_of_its_operator() -> None:
    wrong = replace(LAYER, inputs=(), kind="of nothing")
    assert list(target_suite._taken(offered(NEG), [wrong])) == []
    wanted = (
        r"package machine 1.2:\nSample\(op='Neg', kind='of nothing'\): .*input 0 is absent; .*Neg reads X: "
        "correct it .*. No kernel is tried on it: 'acme.neg'"
    )
    with pytest.raises(pytest.fail.Exception, match=wanted):
        target_suite.test_layer(offered(NEG), wrong)
    target_suite.test_layer(offered(NEG), LAYER)
