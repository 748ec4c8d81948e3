"""Constants that grow for speed: what saves most for each byte, within what the platform gives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from tilewright.bind.candidates import NodeCandidates, choices
from tilewright.bind.constant_growth import growth_notes, within_growth
from tilewright.ir.graphs.graph import Site
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.machines.platform import Memory, Platform
from tilewright.ir.plans.layer import Layers, layer_key
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
