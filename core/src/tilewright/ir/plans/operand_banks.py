"""Knows which buffers kernels want in banks of a memory (`Kernel.banks`), and whether places keep that.
Does not know how places are found.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, product

from tilewright.errors import plugin_error
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.operand_buffers import lone_steps, operand_buffers, scratch_buffer
from tilewright.ir.plans.stages import Allocated, Buffer, Tiled


@dataclass(frozen=True, slots=True, kw_only=True)
class BankDemand:
    """Operands of a step that each lie in one bank, no two of them in the same: by operand the buffers that it has."""

    step: str
    kernel: str
    buffers: Mapping[str, tuple[str, ...]]

    @property
    def apart(self) -> Iterator[tuple[str, str]]:
        """Buffers that may not be in the same bank."""
        for left, right in combinations(self.buffers.values(), 2):
            yield from product(left, right)

    def __str__(self) -> str:
        together = f"{'each ' if len(self.buffers) > 1 else ''}in one bank"
        apart = ", no two of them in the same" if len(self.buffers) > 1 else ""
        return f"kernel '{self.kernel}' of '{self.step}' wants {', '.join(self.buffers)} {together}{apart}"


def bank_demands(tiled: Tiled, decisions: Decisions) -> tuple[BankDemand, ...]:
    """Those of all steps, in order, on a platform that has banks. What has no bytes is nowhere.

    TilewrightError TW8062 (exit 8) where a kernel names what is no operand.
    """
    bound = tiled.scheduled.bound
    if not any(memory.bank_bytes for memory in bound.platform.memories):
        return ()
    sizes = {buffer.name: buffer.size_bytes for buffer in tiled.buffers}
    demands = []
    for region in lone_steps(tiled):
        kernel = bound.bindings[region.name].kernel
        if not kernel.banks:
            continue
        every = {**operand_buffers(region, tiled.scheduled, decisions), "scratch": (scratch_buffer(region),)}
        operator = bound.layers[region.name].operator
        _demand_known(kernel, {*operator.inputs, *operator.outputs, *every})
        there = {operand: tuple(name for name in names if sizes.get(name)) for operand, names in every.items()}
        for group in kernel.banks:
            buffers = {operand: there[operand] for operand in group if there.get(operand)}
            demands.append(BankDemand(step=region.name, kernel=kernel.name, buffers=buffers))
    return tuple(demand for demand in demands if demand.buffers)


def _demand_known(kernel: Kernel, operands: Collection[str]) -> None:
    """TilewrightError TW8062 for a name that is no operand's: a demand that nobody could keep."""
    wrong = next((name for group in kernel.banks for name in group if name not in operands), None)
    if wrong is not None and not any("..." in operand for operand in operands):
        raise plugin_error(
            "TW8062",
            f"kernel '{kernel.name}': banks has '{wrong}', which is no operand of it",
            details=(f"it has: {', '.join(sorted(operands))}",),
            fix=("correct it if the kernel is yours; otherwise report it to the author of its package",),
        )


def bank_faults(allocated: Allocated) -> Iterator[str]:
    """Every demand that the plan's places do not keep."""
    kinds = {buffer.name: buffer for buffer in allocated.tiled.buffers}
    for demand in bank_demands(allocated.tiled, allocated.decisions):
        banks = {name: _banks_of(kinds[name], allocated) for names in demand.buffers.values() for name in names}
        for name, own in banks.items():
            if own is None:
                yield f"{demand}, and nobody knows in which '{name}' is"
            elif len(own) > 1:
                yield f"{demand}, and '{name}' is in {len(own)} of them"
        for left, right in demand.apart:
            for memory, bank in sorted((banks[left] or frozenset()) & (banks[right] or frozenset())):
                yield f"{demand}, and '{left}' and '{right}' are both in bank {bank} of '{memory}'"


def _banks_of(buffer: Buffer, allocated: Allocated) -> frozenset[tuple[str, int]] | None:
    """Memory and number of each bank that has bytes of a buffer; none in a memory without banks. None: it is where the
    linker or the application puts it.
    """
    place = allocated.placements.get(buffer.name)
    if place is None:
        return None
    memory = allocated.tiled.scheduled.bound.platform.memory(place.memory)
    if not memory.bank_bytes:
        return frozenset()
    if memory.managed_by == "application" or buffer.kind in ("state", "resident"):
        return None
    first, last = (at // memory.bank_bytes for at in (place.offset_bytes, place.offset_bytes + buffer.size_bytes - 1))
    return frozenset((memory.name, bank) for bank in range(first, last + 1))
