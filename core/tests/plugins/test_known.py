"""Which package has a well-known name: true of the packages of this repository."""

from __future__ import annotations

import pytest

from tilewright.plugins import discover
from tilewright.plugins.known import PACKAGE_OF, known_names, target_of_chip


def test_every_known_name_is_offered_by_its_package() -> None:
    """Of those that are installed, and nothing that they offer by name is missing."""
    packages = {each.name: each for each in discover(environment={}).packages}
    for (kind, name), package in PACKAGE_OF.items():
        if package in packages:
            assert (kind, name) in {(offer.kind, offer.name) for offer in packages[package].offers}
    named = {"platform", "runner", "allocator", "tiler"}
    offered = {
        (offer.kind, offer.name): package for package in set(PACKAGE_OF.values()) & packages.keys()
        for offer in packages[package].offers if offer.kind in named
    }  # fmt: skip
    assert offered.items() <= PACKAGE_OF.items()


def test_names_of_a_kind() -> None:
    assert known_names("tiler") == ("cpsat",)
    assert known_names("platform") == tuple(sorted(known_names("platform"))) and "siracusa" in known_names("platform")
    assert known_names("command") == ()


@pytest.mark.parametrize(
    ("chip", "target"),
    [
        ("stm32f4", "cortex-m4"),
        ("STM32F407VG", "cortex-m4"),
        ("nucleo-f401re", "cortex-m4"),
        ("stm32wb55", "cortex-m4"),
        ("stm32wba52", "cortex-m33"),
        ("nrf52840", "cortex-m4"),
        ("rp2040", "cortex-m0plus"),
        ("stm32mp1", None),
        ("esp32", None),
        ("generic", None),
    ],
)
def test_chips_have_a_target_that_there_is(chip: str, target: str | None) -> None:
    assert target_of_chip(chip) == target
    assert target is None or target in known_names("platform")
