"""Where constants have to live because of the kernels that read them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.machines.platform import Engine, Memory
from tilewright.ir.plans.constant_homes import homeless, homes
from tilewright.testing.cluster import CLUSTER

MRAM = Memory(name="mram", size_bytes=None, kind="const", access={"cluster": "none"})
MACHINE = replace(CLUSTER, memories=(*CLUSTER.memories, MRAM), engines=(*CLUSTER.engines, Engine(name="npu")))


@pytest.mark.parametrize(
    ("memories", "expected"),
    [
        ((), ()),
        (("l1",), ()),  # copies bring it there
        (("mram", "l1"), ()),
        (("mram",), ("mram",)),
        (("nvm", "mram", "flash"), ("mram", "flash")),
        (("l2",), ("l2",)),  # values live there, and a core copies it there once
    ],
)
def test_only_what_no_copy_brings_has_a_home(memories: tuple[str, ...], expected: tuple[str, ...]) -> None:
    kernel = Kernel(name="k", op="Conv", memories={"W": memories} if memories else {})
    assert homes(kernel, "W", MACHINE) == expected
    assert homes(kernel, "X", MACHINE) == ()


def test_who_finds_it_nowhere_is_refused_with_the_reason() -> None:
    kernel = Kernel(name="k", op="Conv", memories={"W": ("mram",)})
    assert homeless(kernel, "W", "npu", MACHINE) == ""
    assert "where engine 'cluster' has no access" in homeless(kernel, "W", "cluster", MACHINE)
    nowhere = replace(kernel, memories={"W": ("nvm",)})
    assert homeless(nowhere, "W", "npu", MACHINE).endswith("can be: it has no such memory")
