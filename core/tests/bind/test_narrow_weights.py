"""What is said of weights that the file has in 4 bits: bytes of those that stay packed, names of those that do not."""

from __future__ import annotations

import numpy as np
import pytest

from tilewright.bind.narrow_weights import narrow_notes
from tilewright.ir.graphs.graph import Attribute
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.plans.layer import Layer, layer_of
from tilewright.ir.tensors.requant import Requant
from tilewright.operators.quantised.qgemm import QGEMM_NARROW, QGEMM_PORTABLE
from tilewright.testing.one_step import vocabulary
from tilewright.testing.operator_sites import site_of


def product(kernel: Kernel, **more: Attribute) -> Layer:
    requant = Requant(scale=(0.5,), zero_point=0, low=-128, high=127)
    inputs = [np.zeros((1, 6), np.int8), np.ones((6, 8), np.int8)]
    site = site_of(vocabulary()["QGemm"], inputs, {"requant": requant, **more}, (1,))
    return layer_of(vocabulary()["QGemm"], kernel, site)


def test_layers_of_bytes_are_not_mentioned() -> None:
    assert list(narrow_notes({"n": product(QGEMM_PORTABLE)})) == []


@pytest.mark.parametrize(("names", "steps"), [(["a"], "1 step keeps"), (["a", "b"], "2 steps keep")])
def test_equal_layers_have_their_bytes_once(names: list[str], steps: str) -> None:
    layer = product(QGEMM_NARROW, weight_bits=4)
    (note,) = narrow_notes(dict.fromkeys(names, layer))
    words = sum(array.nbytes for array in layer.packed.values())
    assert layer.packed["B"].nbytes == 8 * 3
    assert (note.code, note.severity) == ("TW5064", "note")
    assert note.message == f"{steps} weights of 4 bits packed: {words} B of constants with their scales, for 48 weights"


def test_steps_that_make_bytes_of_them_are_named() -> None:
    layer = product(QGEMM_PORTABLE, weight_bits=4)
    (note,) = narrow_notes(dict.fromkeys("fdbeac", layer))
    assert note.code == "TW5065"
    assert note.message == "6 steps keep 48 narrow weights in bytes: a, b, c, d, ..."
