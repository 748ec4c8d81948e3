"""Knows what it costs that steps run with other kernels than the fastest, and how that is told.
Does not know why they do, beyond the memories that were short.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tilewright.errors import Diagnostic
from tilewright.ir.plans.stages import Binding, Bound, Candidate


def extra_cycles(bound: Bound, kernels: Mapping[str, str]) -> float:
    """What these kernels (node -> name) take longer than the fastest of their nodes, together: an estimate."""
    bindings = (bound.bindings[node] for node in kernels if node in bound.bindings)
    return sum(_candidate(one, kernels[one.node]).cycles - one.candidates[0].cycles for one in bindings)


def exchanged(bound: Bound, first: Bound) -> dict[str, str]:
    """Node -> kernel, where it is another than in `first`."""
    before = {name: one.kernel.name for name, one in first.bindings.items()}
    return {
        name: one.kernel.name for name, one in bound.bindings.items() if before.get(name) not in (None, one.kernel.name)
    }


def is_other(bound: Bound, first: Bound) -> bool:
    """Whether kernels are others than in `first`, or nodes compute a value again."""
    return bool(exchanged(bound, first)) or bound.bindings.keys() != first.bindings.keys()


def slower_kernels(bound: Bound, first: Bound, memories: Sequence[str]) -> Iterator[Diagnostic]:
    """The note TW5035 for steps of `bound` that had faster kernels in `first`, which `memories` have no room for."""
    changed = exchanged(bound, first)
    if not changed:
        return
    extra = extra_cycles(bound, changed)
    total = sum(one.candidates[0].cycles for one in bound.bindings.values())
    longer = f"; the network takes about {100 * extra / total:.1f} % longer on one core (estimate)" if total else ""
    steps = "1 step has a slower kernel" if len(changed) == 1 else f"{len(changed)} steps have slower kernels"
    yield Diagnostic(
        code="TW5035",
        severity="note",
        message=f"memory is short ({', '.join(memories)}): {steps}{longer}",
        details=tuple(_line(bound.bindings[name], first.bindings[name]) for name in changed),
    )


def _line(binding: Binding, before: Binding) -> str:
    extra = _candidate(binding, binding.kernel.name).cycles - _candidate(binding, before.kernel.name).cycles
    return f"'{binding.node}': {binding.kernel.name} instead of {before.kernel.name}, {extra:,.0f} cycles more"


def _candidate(binding: Binding, kernel: str) -> Candidate:
    return next(one for one in binding.candidates if one.kernel.name == kernel)
