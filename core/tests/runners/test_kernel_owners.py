"""Whose a kernel is: a package, a module that no package brings, or the core."""

from __future__ import annotations

from dataclasses import replace

from tilewright.ir.machines.kernel import Kernel
from tilewright.operators.elementwise.clip import KERNELS
from tilewright.runners.kernel_owners import package_of


def bytes_of(tile: object) -> int:
    return 0


def test_the_core_s_own() -> None:
    assert package_of(KERNELS[0]) == "tilewright"
    assert package_of(Kernel(name="bare", op="Clip")) == "tilewright"


def test_a_module_and_a_distribution() -> None:
    bytes_of.__module__ = "somebody.kernels"
    assert package_of(Kernel(name="k", op="Clip", scratch_bytes=bytes_of)) == "somebody"
    bytes_of.__module__ = "click.core"
    assert package_of(replace(KERNELS[0], scratch_bytes=bytes_of)) == "click"
