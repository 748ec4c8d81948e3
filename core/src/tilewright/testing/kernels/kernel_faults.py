"""Knows everything that a kernel must keep on one layer, and how each is tried: what its functions answer, and what its
C does whole, in place, in tiles and in parts. Does not know how layers are chosen, nor how long a kernel takes.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tilewright.ir.graphs.graph import Site
from tilewright.ir.graphs.operator import Operator, input_names
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.plans.layer import Layer, matched
from tilewright.ir.plugin_contract import demand_bytes, demand_cost
from tilewright.ir.tensors.layout import Layout, row_major
from tilewright.testing.kernels.fenced_call import LEAST_ALIGN
from tilewright.testing.kernels.kernel_checks import in_multiples, random_cuts, random_layouts, random_parts
from tilewright.testing.kernels.kernel_run import UBSAN, Trial, outcomes, whole_trial
from tilewright.testing.kernels.kernel_tiles import tiled_trial
from tilewright.testing.kernels.placed_operands import packed_for
from tilewright.testing.kernels.repeated_values import RepeatedValue, repeated_values, shared_layouts
from tilewright.testing.kernels.stored_layers import as_called
from tilewright.testing.operator_sites import result_errors

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

_CALLED = re.compile(r"\b([A-Za-z_]\w*)\s*\(")
_WORDS = {"for", "if", "while", "switch", "return", "sizeof", "void", "const"}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Attempt:
    """One way in which the kernel is run."""

    name: str
    trial: Trial
    layer: Layer
    inputs: Sequence[Array | None]


def kernel_faults(
    operator: Operator,
    kernel: Kernel,
    site: Site,
    inputs: Sequence[Array | None],
    *,
    folder: Path,
    seed: int = 0,
    align: int = LEAST_ALIGN,
    flags: Sequence[str] = UBSAN,
) -> list[str]:
    """What is wrong with a kernel on a layer that it takes; each line names the kernel and its functions in C.

    It runs whole, in the layouts that it prefers and in random ones (but for those that it requires); in place, where
    it says that outputs may have bytes of inputs; in tiles, multiples of what it takes; where it splits reductions in
    parts of them; and with one value for each two inputs that can be one, as in x * x. What nobody has written is
    poison, and so is padding that may be anything, operands are aligned to `align` bytes and no better, and what is
    beside them is out of reach. TilewrightError TW8062 where a function answers what it may not.
    """
    called = as_called(operator, kernel, site, inputs)
    layer = called if isinstance(called, str) else matched(called.operator, called.kernel, called.site)
    if isinstance(called, str) or isinstance(layer, str):
        return [f"kernel '{kernel.name}' refuses the layer: {layer}"]
    operator, kernel, site, inputs = called.operator, called.kernel, called.site, called.inputs
    _demand_answers(layer)
    if changed := _changed_constants(operator, kernel, site):
        return [f"kernel '{kernel.name}': {changed} when it is asked again"]
    attempts = list(_attempts(layer, inputs, np.random.default_rng(seed), align))
    said = f"kernel '{kernel.name}' (C: {', '.join(c_functions_called(attempts[0].trial))})"
    try:
        answers: Sequence[Any] = outcomes([_told(attempt.trial) for attempt in attempts], folder, flags)
    except subprocess.CalledProcessError as failure:
        return [f"{said} does not compile: {_first_error(failure)}"]
    faults = []
    for attempt, answer in zip(attempts, answers, strict=True):
        asked = attempt.layer.site, attempt.inputs
        wrong = [answer] if isinstance(answer, str) else result_errors(operator, *asked, answer)
        faults += [f"{said} {attempt.name}: {error}" for error in wrong]
    return faults


def c_functions_called(trial: Trial) -> tuple[str, ...]:
    """The names of the functions in C that a call calls, as far as its text shows."""
    from tilewright.testing.kernels.kernel_run import call_text

    names = _CALLED.findall(call_text(trial))
    return tuple(dict.fromkeys(name for name in names if name not in _WORDS)) or ("no function",)


def _demand_answers(layer: Layer) -> None:
    """TilewrightError TW8062 where what the kernel says of the layer is not what it may say."""
    kernel, owner = layer.kernel, f"kernel '{layer.kernel.name}'"
    layer.packed  # noqa: B018  # it is judged where it is asked for
    demand_bytes(kernel.scratch_bytes(layer.whole), owner, kernel.scratch_bytes, "scratch_bytes")
    for name, cost in (("cycles", kernel.cycles), ("instructions", kernel.instructions)):
        if cost is not None:
            demand_cost(cost(layer.whole), owner, cost, name)


def _changed_constants(operator: Operator, kernel: Kernel, site: Site) -> str:
    """What is another one when the kernel is asked twice."""
    first, second = (matched(operator, kernel, site) for _ in range(2))
    if isinstance(first, str) or isinstance(second, str):
        return "`pack` gives another answer of `match`"
    if name := _different(first.packed, second.packed):
        return f"`pack` gives another '{name}'"
    if kernel.pack_placed is None:
        return ""
    names = [*first.access.inputs, *first.access.outputs, "scratch"]
    once, again = (packed_for(layer, layer.whole, names, {}) for layer in (first, second))
    name = _different(once, again)
    return f"`pack_placed` gives another '{name}'" if name else ""


def _different(arrays: Mapping[str, Array], others: Mapping[str, Array]) -> str:
    """The first that is not the same in both; "" where all are."""
    for name, array in arrays.items():
        other = others.get(name)
        if other is None or (array.dtype, array.tobytes()) != (other.dtype, other.tobytes()):
            return name
    return ""


def _attempts(
    layer: Layer, inputs: Sequence[Array | None], random: np.random.Generator, align: int
) -> Iterator[_Attempt]:
    operator, kernel, site = layer.operator, layer.kernel, layer.site
    preferred = {**layer.preferred, **layer.required}
    drawn = {**random_layouts(operator, site, random), **layer.required}

    def attempt(name: str, trial: Trial) -> _Attempt:
        return _Attempt(name=name, trial=trial, layer=layer, inputs=inputs)

    def whole(layouts: Mapping[str, Layout], *, in_place: bool = False) -> Trial:
        return whole_trial(operator, kernel, site, inputs, layouts=layouts, in_place=in_place, align=align)

    yield attempt("whole", whole(preferred))
    if drawn != preferred:
        yield attempt(f"in layouts {_shown(drawn)}", whole(drawn))
    if layer.in_place and _same_layouts(layer, preferred):
        yield attempt("in place", whole(preferred, in_place=True))
    cuts = in_multiples(random_cuts(layer.access, random), kernel)
    for some in (_halves(layer), cuts):
        yield attempt(f"in tiles {dict(some)}", tiled_trial(layer, inputs, cuts=some, layouts=drawn, align=align))
    if parts := random_parts(layer, random):
        both = {**cuts, **parts}
        yield attempt(f"in parts {both}", tiled_trial(layer, inputs, cuts=both, layouts=preferred, align=align))
    yield from _attempts_on_one_value(layer, inputs, align)


def _attempts_on_one_value(layer: Layer, inputs: Sequence[Array | None], align: int) -> Iterator[_Attempt]:
    """The same with one value for two operands, where the kernel takes that: at one address, in place, in tiles."""
    operator, kernel = layer.operator, layer.kernel
    for repeated in () if kernel.stores else repeated_values(operator, layer.site, inputs):
        again, given = matched(operator, kernel, repeated.site), repeated.inputs
        layouts = None if isinstance(again, str) else shared_layouts(again, repeated.operands)
        if isinstance(again, str) or layouts is None:
            continue
        said = f"with one value as {' and '.join(repeated.operands)}"
        ways = (
            {said: False, f"{said}, in place": True} if _in_place_of_both(again, repeated, layouts) else {said: False}
        )
        for name, in_place in ways.items():
            trial = whole_trial(operator, kernel, repeated.site, given, layouts=layouts, in_place=in_place, align=align)
            yield _Attempt(name=name, trial=trial, layer=again, inputs=given)
        halves = _halves(again)
        trial = tiled_trial(again, given, cuts=halves, layouts=layouts, align=align)
        yield _Attempt(name=f"{said}, in tiles {dict(halves)}", trial=trial, layer=again, inputs=given)


def _in_place_of_both(layer: Layer, repeated: RepeatedValue, layouts: Mapping[str, Layout]) -> bool:
    """Whether an output may take the bytes of the value, which it may only where it may take those of both operands."""
    taken = {output: {source for source, other in layer.in_place if other == output} for _, output in layer.in_place}
    alike = all(sources.issuperset(repeated.operands) for sources in taken.values())
    return bool(taken) and alike and _same_layouts(layer, layouts) and _as_large(layer)


def _as_large(layer: Layer) -> bool:
    """Whether outputs have as many bytes as the inputs whose bytes they may take."""
    outputs = dict(zip(layer.operator.outputs, layer.site.outputs, strict=False))
    sources = dict(zip(input_names(layer.operator, layer.site), layer.site.inputs, strict=True))
    pairs = ((sources.get(source), outputs[output]) for source, output in layer.in_place)
    return all(tensor is not None and tensor.size_bytes == output.size_bytes for tensor, output in pairs)


def _halves(layer: Layer) -> Mapping[str, int]:
    """Every parallel loop cut in two, so that last tiles are smaller where extents are odd, and have gaps."""
    loops = [loop for loop in layer.access.loops if loop.kind == "parallel" and loop.extent > 1]
    return in_multiples({loop.name: (loop.extent + 1) // 2 for loop in loops}, layer.kernel)


def _same_layouts(layer: Layer, layouts: Mapping[str, Layout]) -> bool:
    """Whether operands that share bytes are stored alike, and are as large."""
    return all(layouts.get(source) == layouts.get(output) for source, output in layer.in_place)


def _shown(layouts: Mapping[str, Layout]) -> str:
    turned = {name: layout for name, layout in layouts.items() if layout != row_major(len(layout))}
    return str(turned or "row-major")


def _told(trial: Trial) -> Trial:
    """The same, whose failure is its result."""

    def attempt(function: object) -> Any:
        try:
            return trial.execute(function)
        except AssertionError as failure:
            return str(failure)

    return replace(trial, execute=attempt)


def _first_error(failure: subprocess.CalledProcessError) -> str:
    lines = [line for line in str(failure.stderr or "").splitlines() if "error" in line]
    return lines[0].split("error: ")[-1] if lines else f"the compiler ended with {failure.returncode}"
