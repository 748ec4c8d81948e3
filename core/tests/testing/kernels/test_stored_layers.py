"""The kit fills padding as a kernel says that it is: poison where it may be anything. A kernel that reads it anyway, or
writes other padding than it says, is found.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from form_kernels import CLEAN_NEG, GROUPS, NEG, NEG_ROWS, SUM

from tilewright.ir.graphs.graph import Attribute
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.plans.stored_kernel import storing
from tilewright.ir.tensors.stored_form import Stored
from tilewright.testing.kernels.kernel_faults import kernel_faults
from tilewright.testing.kernels.stored_layers import as_called, asked_about
from tilewright.testing.one_step import vocabulary
from tilewright.testing.operator_sites import site_of

IMAGE = np.random.default_rng(0).standard_normal((2, 20, 5, 7)).astype(np.float32)
CHANNELS: Mapping[str, Attribute] = {"axes": (1,), "keepdims": 1}


def faults(kernel: Kernel, folder: Path) -> list[str]:
    operator = vocabulary()[kernel.op]
    site = site_of(operator, [IMAGE], CHANNELS if kernel.op == "ReduceSum" else {})
    return kernel_faults(operator, kernel, site, [IMAGE], folder=folder)


@pytest.mark.parametrize("kernel", [NEG, CLEAN_NEG, NEG_ROWS, SUM], ids=lambda kernel: kernel.name)
def test_right_kernels_pass(tmp_path: Path, kernel: Kernel) -> None:
    assert faults(kernel, tmp_path) == []


def test_padding_that_is_read_unsaid_is_found(tmp_path: Path) -> None:
    careless = replace(SUM, stored=lambda site: {"X": Stored(form=GROUPS)})
    found = faults(careless, tmp_path)
    assert found[0] == (
        "kernel 'acme.sum16' (C: no function) whole: Y depends on padding of X, for which `stored` says no fill"
    )
    assert any("in tiles" in fault and "reference" in fault for fault in found)


def test_padding_that_is_other_than_said_is_found(tmp_path: Path) -> None:
    boasting = replace(
        CLEAN_NEG, stored=lambda site: {"X": Stored(form=GROUPS, fill=1), "Y": Stored(form=GROUPS, fill=3)}
    )
    assert "np.float32(-1.0), np.float32(3.0) is said to be in padding" in faults(boasting, tmp_path)[0]


def test_a_layer_is_asked_about_as_the_network_has_it() -> None:
    operator = vocabulary()["Neg"]
    offered = storing(NEG, operator)
    assert (offered.computes, asked_about(offered), asked_about(NEG)) == ("Neg@stored", "Neg", "Neg")
    flat = np.zeros(3, np.float32)
    assert as_called(operator, offered, site_of(operator, [flat]), [flat]) == "is no image of floats"
    called = as_called(operator, offered, site_of(operator, [IMAGE]), [IMAGE])
    assert not isinstance(called, str)
    assert called.site.input(0).shape == called.site.output.shape == (2, 2, 5, 7, 16)
    assert called.inputs[0] is not None and called.inputs[0].view(np.uint8)[0, 1, 0, 0, -1] == 0x5A
