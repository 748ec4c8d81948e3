"""Constants as they are stored: packed by the kernel, equal ones once, each with the name of its first reader."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tilewright.bind.constants import store_constants
from tilewright.ir.machines.platform import Memory, Platform
from tilewright.ir.plans.layer import Layer, layer_of
from tilewright.testing.one_step import portable_kernels, vocabulary
from tilewright.testing.operator_sites import site_of

PLATFORM = Platform(name="any", memories=(Memory(name="ram", size_bytes=None),))
X = np.zeros((4, 6), np.float32)


def layer(constant: np.ndarray, kernel: str = "portable.add") -> Layer:
    """A sum with a constant."""
    site = site_of(vocabulary()["Add"], [X, constant], {}, (1,))
    return layer_of(vocabulary()["Add"], portable_kernels()[kernel], site)


def test_equal_constants_are_stored_once_under_the_first_name() -> None:
    ones = np.ones((4, 6), np.float32)
    found = store_constants({"one": layer(ones), "two": layer(ones.copy()), "three": layer(2 * ones)}, PLATFORM)
    assert found.names == {"one": {"B": "one.B"}, "two": {"B": "one.B"}, "three": {"B": "three.B"}}
    assert set(found.arrays) == {"one.B", "three.B"}
    assert np.array_equal(found.arrays["three.B"], 2 * ones)


def test_the_same_bytes_of_another_shape_or_type_are_another_constant() -> None:
    zeros = [np.zeros(6, np.float32), np.zeros((1, 6), np.float32), np.zeros(6, np.float32).view(np.int32)]
    layers = {str(at): replace(layer(zeros[0]), site=layer(zeros[0]).site) for at in range(3)}
    made = {name: with_constant(one, zeros[int(name)]) for name, one in layers.items()}
    assert len(store_constants(made, PLATFORM).arrays) == 3


def with_constant(one: Layer, array: np.ndarray) -> Layer:
    (name,) = one.site.constants
    return replace(one, site=replace(one.site, constants={name: array}))


def test_nodes_of_one_layer_share_its_constants() -> None:
    same = layer(np.ones((4, 6), np.float32))
    found = store_constants({"one": same, "two": same}, PLATFORM)
    assert found.names["one"] is found.names["two"]


def test_what_a_kernel_packs_is_stored_instead() -> None:
    packed = {"W": np.arange(12, dtype=np.int8).reshape(3, 4).T, "S": np.array(3, np.int32)}
    made = layer(np.ones((4, 6), np.float32))
    found = store_constants({"one": replace(made, kernel=replace(made.kernel, pack=lambda site: packed))}, PLATFORM)
    assert found.names == {"one": {"W": "one.W", "S": "one.S"}}
    assert found.arrays["one.W"].flags.c_contiguous and found.arrays["one.W"].shape == (4, 3)


def test_stored_constants_cannot_be_written_to_and_the_models_are_not_touched() -> None:
    mine = np.ones((4, 6), np.float32)
    found = store_constants({"one": layer(mine)}, PLATFORM)
    assert not found.arrays["one.B"].flags.writeable
    mine[:] = 5
    assert (found.arrays["one.B"] == 1).all()
