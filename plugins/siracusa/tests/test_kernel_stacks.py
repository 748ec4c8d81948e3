"""Stacks of steps: of kernels that exist, and smaller than what a core has where nothing is known."""

from __future__ import annotations

from tilewright.api.testing import registry_for
from tilewright_riscv.stacks import PROGRAM_BYTES
from tilewright_siracusa.kernel_stacks import KERNEL_BYTES
from tilewright_siracusa.kernels import KERNELS
from tilewright_siracusa.machine import STACK_BYTES
from tilewright_siracusa.platform import SIRACUSA, STACKS


def test_names_are_those_of_kernels() -> None:
    assert set(KERNEL_BYTES) <= {*registry_for(SIRACUSA).kernels, *(kernel.name for kernel in KERNELS)}


def test_each_saves_something() -> None:
    assert all(PROGRAM_BYTES + size < STACK_BYTES for size in KERNEL_BYTES.values())


def test_a_plan_has_stacks_for_its_kernels() -> None:
    (name, size), *_ = KERNEL_BYTES.items()
    sized = SIRACUSA.running((name,))
    assert STACKS.one_bytes(sized) == -(-(PROGRAM_BYTES + size) // 16) * 16
    assert sum(sized.runtime_bytes.values()) == STACKS.all_bytes(sized)
