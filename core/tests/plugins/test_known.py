"""Which package has a well-known name: true of the packages of this repository."""

from __future__ import annotations

from tilewright.plugins import discover
from tilewright.plugins.known import PACKAGE_OF, known_names


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
