"""What a package offers for its target: nothing of the core, and compiled twice the same files."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tilewright.errors import TilewrightError
from tilewright.plugins.registry import Provenance
from tilewright.testing.cluster import CLUSTER, registry_for
from tilewright.testing.one_step import portable_kernels
from tilewright.testing.package_offers import Offered, offered_by


def offered() -> Offered:
    registry = registry_for(CLUSTER)
    own = replace(portable_kernels()["portable.neg"], name="acme.neg", target=CLUSTER.name)
    other = replace(own, name="acme.other", target="elsewhere")
    absent = replace(own, name="acme.absent", engine="that there is not")
    acme = Provenance(distribution="acme", version="1.2")
    return Offered(
        platform=CLUSTER,
        registry=replace(
            registry,
            kernels={**registry.kernels, own.name: own, other.name: other, absent.name: absent},
            provenance={
                **registry.provenance,
                **{("kernel", kernel.name): acme for kernel in (own, other, absent)},
                ("platform", CLUSTER.name): acme,
            },
        ),
    )  # fmt: skip


def test_kernels_are_those_of_packages_for_the_target() -> None:
    found = offered()
    assert (found.package, [kernel.name for kernel in found.kernels]) == ("acme 1.2", ["acme.neg"])
    assert found.graph_passes == ()
    assert "Conv" in found.operators


def test_a_target_that_is_not_installed_is_an_error() -> None:
    with pytest.raises(TilewrightError) as caught:
        offered_by("acme-nowhere")
    assert caught.value.code == "TW8001"
