"""Knows a layer as a kernel is called that stores values in forms of its own: what is in the padding that it is given,
and what shows that it reads there. Does not know how kernels are run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tilewright.ir.graphs.graph import Site
from tilewright.ir.graphs.operator import Operator, input_names
from tilewright.ir.graphs.stored_sites import open_padding, stored_operands, stored_operator
from tilewright.ir.machines.kernel import Kernel, Matched
from tilewright.ir.plans.stored_kernel import StoredKernel, stored_forms, stored_site, storing

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

POISONS = (0x5A, 0xFF)  # in every byte of padding that may be anything: of floats a large number, and not a number


@dataclass(frozen=True, slots=True, kw_only=True)
class Called:
    """The layer as the kernel is called."""

    operator: Operator
    kernel: Kernel
    site: Site
    inputs: Sequence[Array | None]


def asked_about(kernel: Kernel) -> str:
    """The operator of the layers that a kernel is asked about: of one with forms that of the network."""
    return kernel.base.computes if isinstance(kernel, StoredKernel) else kernel.computes


def as_called(operator: Operator, kernel: Kernel, site: Site, inputs: Sequence[Array | None]) -> Called | str:
    """A layer as the network has it, in the forms that the kernel wants, poison where padding may be anything; or the
    kernel's refusal. Of a kernel without forms the layer itself.
    """
    if not kernel.stores or stored_operands(site.node):
        return Called(operator=operator, kernel=kernel, site=site, inputs=inputs)
    base = kernel.base if isinstance(kernel, StoredKernel) else kernel
    answer = base.match(site)
    if isinstance(answer, str):
        return answer
    forms = stored_forms(base, operator, Matched.of(site, answer))
    named = zip(input_names(operator, site), inputs, strict=True)
    return Called(
        operator=stored_operator(operator),
        kernel=storing(base, operator),
        site=stored_site(site, operator, forms),
        inputs=[
            array if array is None or name not in forms else forms[name].put(array, _poison(array, POISONS[0]))
            for name, array in named
        ],
    )


def with_other_padding(site: Site, operand: str, array: Array) -> Array:
    """What is stored of an operand, row-major, with other poison where padding may be anything."""
    value = stored_operands(site.node)[operand]
    return value.put(value.take(array), _poison(array, POISONS[1]))


def settled(operator: Operator, site: Site, written: Mapping[str, Array]) -> dict[str, Array]:
    """What a kernel has written, row-major, zero where padding may be anything."""
    anything = open_padding(site.node, operator, site.outputs)
    return {
        operand: np.where(anything[operand], np.zeros((), array.dtype), array) if operand in anything else array
        for operand, array in written.items()
    }


def _poison(array: Array, byte: int) -> np.generic:
    poison: np.generic = np.full(array.dtype.itemsize, byte, np.uint8).view(array.dtype)[0]
    return poison
