"""Constants that grow for speed: what saves most for each byte, within what the platform gives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from tilewright.bind.candidates import NodeCandidates, choices
from tilewright.bind.constant_growth import growth_notes, within_growth
from tilewright.ir.graphs.graph import Attribute, Site
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.machines.platform import Memory, Platform
from tilewright.ir.plans.layer import Layers, layer_key
from tilewright.ir.tensors.requant import Requant
from tilewright.testing.one_step import vocabulary
from tilewright.testing.operator_sites import site_of

SMALL = Kernel(name="small", op="Gemm", target="tiny", cycles=lambda tile: 1000.0)
PACKED = {"small": 0, "two": 20, "eight": 80}  # kernel -> more bytes


def larger(name: str, cycles: float) -> Kernel:
    return replace(SMALL, name=name, cycles=lambda tile: cycles, more_constants=lambda site: PACKED[name])


KERNELS = (SMALL, larger("two", 800.0), larger("eight", 100.0))


def platform(growth: Callable[[Platform, int], int] | None) -> Platform:
    return Platform(name="tiny", memories=(Memory(name="ram", size_bytes=None),), constant_growth=growth)


def product(columns: int) -> Site:
    arrays = [np.zeros((1, 4), np.float32), np.zeros((4, columns), np.float32), None]
    return site_of(vocabulary()["Gemm"], arrays, {}, (1,))


def candidates(machine: Platform, count: int = 1) -> dict[str, NodeCandidates]:
    layers = Layers(operators=vocabulary())
    sites = {f"n{number}": product(3 + number) for number in range(count)}
    return {name: choices(site, layer_key(site), KERNELS, machine, layers) for name, site in sites.items()}


def fastest(room: int, count: int = 1) -> list[str]:
    machine = platform(lambda machine, constants: room)
    found = within_growth(candidates(machine, count), machine)
    return [one.candidates[0].kernel.name for one in found.values()]


def test_nothing_grows_on_a_platform_that_says_nothing_about_it() -> None:
    machine = platform(None)
    (found,) = within_growth(candidates(machine), machine).values()
    assert [one.kernel.name for one in found.candidates] == ["small"]
    assert [layer.kernel.name for layer in found.layers] == ["small"]
    assert [(one.candidate, one.reason) for one in found.refusals] == [
        ("eight", "takes 80 more bytes of constants, for speed; 0 are left for that"),
        ("two", "takes 20 more bytes of constants, for speed; 0 are left for that"),
    ]


@pytest.mark.parametrize(("room", "kernels"), [
    (0, ["small", "small"]), (19, ["small", "small"]), (20, ["two", "small"]), (40, ["two", "two"]),
    (79, ["two", "two"]), (80, ["eight", "small"]), (100, ["eight", "two"]), (160, ["eight", "eight"]),
])  # fmt: skip
def test_what_saves_most_for_each_byte_comes_first(room: int, kernels: list[str]) -> None:
    assert fastest(room, 2) == kernels


def test_a_platform_is_told_what_the_smallest_constants_take() -> None:
    told = list[int]()

    def growth(machine: Platform, constants: int) -> int:
        told.append(constants)
        return 0

    machine = platform(growth)
    within_growth(candidates(machine, 2), machine)
    assert told == [4 * 4 * (3 + 4)]


def test_the_note_says_how_much_and_what_for() -> None:
    machine = replace(platform(lambda machine, constants: 99), constant_growth_fix="say less")
    found = within_growth(candidates(machine), machine)
    (note,) = growth_notes({"n0": found["n0"].layers[0]}, found, machine)
    assert (note.code, note.severity, note.fix) == ("TW5050", "note", ("say less",))
    assert note.message == "1 step has 80 B more constants, for about 90 % fewer cycles (estimate)"
    assert not list(growth_notes({"n0": found["n0"].layers[2]}, found, machine))


def narrow_product() -> tuple[Site, tuple[Kernel, ...]]:
    """A layer with weights of 4 bits, a kernel that keeps them, and faster ones that make them 8: one of the target."""
    weights: list[np.ndarray | None] = [np.zeros((1, 4), np.int8), np.ones((4, 8), np.int8)]
    attributes: dict[str, Attribute] = {"requant": Requant(scale=(0.5,), zero_point=0, low=-128, high=127)}
    site = site_of(vocabulary()["QGemm"], weights, {**attributes, "weight_bits": 4}, (1,))
    keeps = Kernel(
        name="keeps", op="QGemm", weight_bits=(4,), cycles=lambda tile: 90.0,
        pack=lambda site: {"B": np.zeros((8, 2), np.uint8)},
    )  # fmt: skip
    widens = Kernel(name="widens", op="QGemm", cycles=lambda tile: 60.0, pack=lambda site: {"B": site.constant(1).T})
    return site, (keeps, widens, replace(widens, name="own", target="tiny"))


@pytest.mark.parametrize(
    ("growth", "offered", "kept"),
    [
        (None, 3, ["own", "widens", "keeps"]),
        (None, 2, ["keeps"]),
        (lambda machine, constants: 15, 3, ["keeps"]),
        (lambda machine, constants: 16, 3, ["own", "widens", "keeps"]),
    ],
)
def test_a_kernel_that_widens_weights_takes_more_constants(
    growth: Callable[[Platform, int], int] | None, offered: int, kept: list[str]
) -> None:
    machine, (site, kernels) = platform(growth), narrow_product()
    kernels = kernels[:offered]
    found = choices(site, layer_key(site), kernels, machine, Layers(operators=vocabulary()))
    (allowed,) = within_growth({"n": found}, machine).values()
    assert [one.kernel.name for one in allowed.candidates] == kept
    refused = {one.candidate: one.reason for one in allowed.refusals}
    assert set(refused) == {kernel.name for kernel in kernels} - set(kept)
    assert all("takes 16 more bytes of constants" in reason for reason in refused.values())
