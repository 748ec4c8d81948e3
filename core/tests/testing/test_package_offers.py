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
    portable = replace(own, name="acme.portable", target="*")
    theirs = replace(portable, name="portable.theirs")
    absent = replace(own, name="acme.absent", engine="that there is not")
    acme = Provenance(distribution="acme", version="1.2")
    return Offered(
        platform=CLUSTER,
        registry=replace(
            registry,
            kernels={
                **registry.kernels,
                **{kernel.name: kernel for kernel in (own, other, absent, portable, theirs)},
            },
            provenance={
                **registry.provenance,
                **{("kernel", kernel.name): acme for kernel in (own, other, absent, portable)},
                ("kernel", theirs.name): Provenance(distribution="umbrella", version="3"),
                ("platform", CLUSTER.name): acme,
            },
        ),
    )  # fmt: skip


def test_kernels_are_those_for_the_target_and_portable_ones_of_its_package() -> None:
    found = offered()
    assert (found.package, [kernel.name for kernel in found.kernels]) == ("acme 1.2", ["acme.neg", "acme.portable"])
    assert found.owner("kernel", "portable.theirs") == "umbrella 3"
    assert found.graph_passes == ()
    assert "Conv" in found.operators


def test_a_target_that_is_not_installed_is_an_error() -> None:
    with pytest.raises(TilewrightError) as caught:
        offered_by("acme-nowhere")
    assert caught.value.code == "TW8001"
