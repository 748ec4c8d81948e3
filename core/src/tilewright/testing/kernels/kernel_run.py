"""Knows how to compile calls of kernels for this machine and run them on arrays.
Does not know the pipeline: no graph, no plan, no generated API.
"""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tilewright.c_text.layout import WIDTH
from tilewright.c_text.rendering import render_call, render_source, render_wait
from tilewright.emit.ctree import print_code
from tilewright.errors import TilewrightError
from tilewright.ir.access.index_map import Window
from tilewright.ir.code_fragments import ordered
from tilewright.ir.graphs.graph import Site
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.graphs.stored_sites import stored_operands
from tilewright.ir.machines.kernel import Call, Kernel, Operand
from tilewright.ir.plans.layer import Layer, layer_of
from tilewright.ir.tensors.layout import Layout, row_major, strides
from tilewright.operators.c_code.c_source import c_fragment
from tilewright.runners.toolchain import find_compiler
from tilewright.testing.kernels.fenced_call import LEAST_ALIGN, fenced_call
from tilewright.testing.kernels.placed_operands import base_pointers, packed_for
from tilewright.testing.kernels.stored_layers import settled, with_other_padding

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

STRICT = (
    "-std=c11",
    "-O1",
    "-Wall",
    "-Wextra",
    "-Wconversion",
    "-Wshadow",
    "-pedantic",
    "-Werror",
    "-ffp-contract=off",
)
POISONS = (0x5A, 0xA5)  # in every byte of what nobody has written
UBSAN = (*STRICT, "-O0", "-fsanitize=undefined", "-fno-sanitize-recover=all")  # compiled in half of the time of -O1


def run_kernel(
    operator: Operator,
    kernel: Kernel,
    site: Site,
    inputs: Sequence[Array | None],
    *,
    folder: Path,
    layouts: Mapping[str, Layout] | None = None,
    flags: Sequence[str] = STRICT,
    in_place: bool = False,
) -> tuple[Array, ...]:
    """Compile `kernel` for `site`, run it once over whole operands stored in `layouts`, return row-major outputs.

    `in_place`: outputs are where the inputs are whose bytes the kernel says that they may take.
    """
    trial = whole_trial(operator, kernel, site, inputs, layouts=layouts, in_place=in_place)
    return outcomes([trial], folder, flags)[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A call to be compiled, and what is done with the function around it: see `build_library`."""

    kernel: Kernel
    call: Call
    values: bool = False  # it takes tw_v
    execute: Callable[[object], tuple[Array, ...]]  # row-major outputs


def whole_trial(
    operator: Operator,
    kernel: Kernel,
    site: Site,
    inputs: Sequence[Array | None],
    *,
    layouts: Mapping[str, Layout] | None = None,
    in_place: bool = False,
    align: int = LEAST_ALIGN,
) -> Trial:
    """What `run_kernel` does: twice, what is behind the operands out of reach and then what is before them, with other
    bytes in what nobody has written. AssertionError where the outputs differ.
    """

    layouts = layouts or {}
    layer = layer_of(operator, kernel, site)
    call, arrays = whole_call(layer, inputs, layouts=layouts)
    pairs = layer.in_place if in_place else ()
    for source, output in pairs:
        taken, bytes_of_both = arrays[source], arrays[source].copy().view(arrays[output].dtype)
        same = [name for name, array in arrays.items() if array is taken]
        arrays |= dict.fromkeys((*same, output), bytes_of_both)
    unwritten = {"scratch", *operator.outputs} - {name for pair in pairs for name in pair}
    whole = _Whole(layer=layer, arrays=arrays, unwritten=unwritten, layouts=layouts, align=align, aligns=kernel.align)
    return Trial(kernel=kernel, call=call, execute=whole.execute)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Whole:
    """Calls that compute the whole of a layer."""

    layer: Layer
    arrays: Mapping[str, Array]  # by operand, as they are stored
    unwritten: Collection[str]
    layouts: Mapping[str, Layout]
    align: int
    aligns: Mapping[str, int]  # by operand, where the kernel says so

    def execute(self, function: object) -> tuple[Array, ...]:
        """The outputs of the second call, row-major."""
        again = self._written(function, self.arrays, POISONS[0], at_end=False)
        final = self._written(function, self.arrays, POISONS[1])
        if other := _other(again, final):
            raise AssertionError(f"{other} depends on bytes that nobody has written, or is not written whole")
        for operand in stored_operands(self.layer.site.node).keys() & self.arrays.keys() - final.keys():
            plain = self._row_major(operand, self.arrays)
            padded = with_other_padding(self.layer.site, operand, plain).transpose(self._layout(operand, plain))
            operands = {**self.arrays, operand: padded.copy()}
            if other := _other(self._written(function, operands, POISONS[1]), final):
                raise AssertionError(f"{other} depends on padding of {operand}, for which `stored` says no fill")
        return tuple(final.values())

    def _written(
        self, function: object, operands: Mapping[str, Array], poison: int, *, at_end: bool = True
    ) -> dict[str, Array]:
        """The outputs by operand, row-major; zero is in padding that may hold anything."""
        arrays = _with_poison(operands, self.unwritten, poison)
        fenced_call(function, arrays, at_end=at_end, align=self.align, aligns=self.aligns)
        outputs = zip(self.layer.operator.outputs, self.layer.site.outputs, strict=False)
        written = {operand: self._row_major(operand, arrays) for operand, _ in outputs}
        return settled(self.layer.operator, self.layer.site, written)

    def _row_major(self, operand: str, arrays: Mapping[str, Array]) -> Array:
        import numpy as np

        return arrays[operand].transpose(np.argsort(self._layout(operand, arrays[operand])))

    def _layout(self, operand: str, array: Array) -> Layout:
        return self.layouts.get(operand, row_major(array.ndim))


def _other(left: Mapping[str, Array], right: Mapping[str, Array]) -> str:
    """The first that is not the same byte for byte."""
    return next((name for name in left if left[name].tobytes() != right[name].tobytes()), "")


def _with_poison(arrays: Mapping[str, Array], unwritten: Collection[str], poison: int) -> dict[str, Array]:
    """Copies; those that share their bytes still do, and what nobody has written is `poison` in every byte."""
    import numpy as np

    copies = {id(array): array.copy() for array in arrays.values()}
    for name, array in arrays.items():
        if name in unwritten:
            copies[id(array)] = np.frombuffer(bytes([poison]) * array.nbytes, array.dtype).reshape(array.shape).copy()
    return {name: copies[id(array)] for name, array in arrays.items()}


def outcomes(trials: Sequence[Trial], folder: Path, flags: Sequence[str] = STRICT) -> list[tuple[Array, ...]]:
    """The outputs of each, all of them compiled at once: gcc takes longer to start than for most kernels.

    Where two have other texts of one name, each is compiled alone.
    """
    try:
        texts = [library_text(trials)]
    except TilewrightError:
        texts = [library_text([trial]) for trial in trials]
    libraries = [_library(text, folder, flags) for text in texts]
    functions = [getattr(library, name) for library in libraries for name in _names(len(trials) // len(libraries))]
    return [trial.execute(function) for trial, function in zip(trials, functions, strict=True)]


def given_arrays(layer: Layer, inputs: Sequence[Array | None]) -> dict[str, Array]:
    """What the kernel reads by operand: inputs by their tensors' axes, and what was packed of them."""
    import numpy as np

    site = layer.site
    by_name = dict(zip((tensor.name if tensor else "" for tensor in site.inputs), inputs, strict=True))
    return {
        source.operand: np.asarray(by_name[source.tensor] if source.tensor else layer.packed[source.operand])
        for source in layer.sources(site)
    }


def whole_call(
    layer: Layer, inputs: Sequence[Array | None], *, layouts: Mapping[str, Layout]
) -> tuple[Call, dict[str, Array]]:
    """The call that computes the whole of a layer, and its operands in the order of their pointers, outputs zero."""
    import numpy as np

    site, operator, kernel = layer.site, layer.operator, layer.kernel
    arrays: dict[str, Array] = {}
    values: dict[tuple[str, Layout], Array] = {}  # by name and layout: operands may be one value
    tensors = {source.operand: source.tensor for source in layer.sources(site) if source.tensor}
    operands: dict[str, Operand] = {}
    for operand, array in given_arrays(layer, inputs).items():
        layout = row_major(array.ndim) if operand in layer.packed else layouts.get(operand, row_major(array.ndim))
        arrays[operand] = np.ascontiguousarray(array.transpose(layout))
        arrays[operand] = values.setdefault((tensors.get(operand, operand), tuple(layout)), arrays[operand])
        operands[operand] = _operand(operand, array.shape, array.dtype, layout, len(arrays) - 1, "const ")
    for operand, tensor in zip(operator.outputs, site.outputs, strict=False):
        layout = layouts.get(operand, row_major(len(tensor.shape)))
        arrays[operand] = np.zeros([tensor.shape[axis] for axis in layout], tensor.dtype.numpy)
        operands[operand] = _operand(operand, tensor.shape, tensor.dtype.numpy, layout, len(arrays) - 1, "")
    access, box = layer.access, layer.whole.box
    operands = {name: _of_window(operand, access.window(name, box)) for name, operand in operands.items()}
    if kernel.pack_placed:
        skipped = {name: array.itemsize * _skipped(operands[name]) for name, array in arrays.items()}
        arrays |= packed_for(layer, layer.whole, (*arrays, "scratch"), skipped)
    scratch_bytes = kernel.scratch_bytes(layer.whole)
    arrays["scratch"] = np.zeros(scratch_bytes, np.uint8)
    operands["scratch"] = _operand("scratch", (scratch_bytes,), np.dtype(np.uint8), (0,), len(arrays) - 1, "")
    extents = {loop.name: str(loop.extent) for loop in access.loops}
    bases = base_pointers(kernel, arrays)
    return Call(site=layer.site, operands=operands, extents=extents, name="step", bases=bases), arrays


def _operand(name: str, shape: Sequence[int], dtype: object, layout: Layout, index: int, const: str) -> Operand:
    import numpy as np

    from tilewright.ir.tensors.dtypes import DType

    element = DType.from_numpy(np.dtype(dtype))  # type: ignore[call-overload]  # any numpy type
    return Operand(
        name=name,
        pointer=f"(({const}{element.c_type} *)tw_p[{index}])",
        dtype=element,
        shape=tuple(shape),
        strides=strides(shape, layout),
        extents=tuple(str(extent) for extent in shape),
        origin=("0",) * len(shape),
        before=("0",) * len(shape),
        after=("0",) * len(shape),
    )


def _of_window(operand: Operand, window: Window) -> Operand:
    """The operand as a call over all loops sees it: what is never read is left out, what is padding is counted."""
    skipped = sum(span.low * step for span, step in zip(window, operand.strides, strict=True))
    return replace(
        operand,
        pointer=f"({operand.pointer} + {skipped})" if skipped else operand.pointer,
        extents=tuple(str(span.extent) for span in window),
        origin=tuple(str(span.low) for span in window),
        before=tuple(str(span.before) for span in window),
        after=tuple(str(span.after) for span in window),
    )


def _skipped(operand: Operand) -> int:
    """Elements before the first one that is read."""
    return sum(int(low) * step for low, step in zip(operand.origin, operand.strides, strict=True))


def build_library(
    kernel: Kernel, call: Call, folder: Path, flags: Sequence[str] = STRICT, *, values: bool = False
) -> ctypes.CDLL:
    """A library with `void tw_test(void *const *tw_p)` around the call; with `values`, also `const int32_t *tw_v`."""
    return _library(library_text([Trial(kernel=kernel, call=call, values=values, execute=lambda _: ())]), folder, flags)


def library_text(trials: Sequence[Trial]) -> str:
    """A function for each, `tw_test`, `tw_test_1` and so on. TilewrightError TW8060 where their sections differ."""
    headers = ("<stdint.h>", "<math.h>", *(name for trial in trials for name in trial.kernel.includes))
    sections = (section for trial in trials for section in render_source(trial.kernel, trial.call))
    return "\n".join(
        (
            *(f"#include {name}" for name in dict.fromkeys(headers)),
            *(section.text for section in ordered((c_fragment("prelude.h"), *sections))),
            *(_function(trial, name) for trial, name in zip(trials, _names(len(trials)), strict=True)),
        )
    )


def _names(count: int) -> list[str]:
    return ["tw_test", *(f"tw_test_{number}" for number in range(1, count))][:count]


def _function(trial: Trial, name: str) -> str:
    head = f"void {name}(void *const *tw_p{', const int32_t *tw_v' if trial.values else ''})"
    used = ["    (void)tw_p;", *(["    (void)tw_v;"] if trial.values else [])]
    return "\n".join((f"{head};", head, "{", call_text(trial), *used, "}", ""))


def call_text(trial: Trial) -> str:
    """The statements of one call, with those that wait for it."""
    parts = (render_call(trial.kernel, trial.call), render_wait(trial.kernel, trial.call))
    return "\n".join(line for part in parts if part is not None for line in print_code(part, WIDTH))


def _library(text: str, folder: Path, flags: Sequence[str]) -> ctypes.CDLL:
    compiler = [*find_compiler().command, *flags]
    source, library = folder / "kernel.c", folder / f"kernel_{abs(hash((text, *compiler)))}.so"
    if not library.exists():  # else an earlier call has had the same kernel, site and layouts
        source.write_text(text, encoding="utf-8")
        command = [*compiler, "-shared", "-fPIC", "-o", str(library), str(source), "-lm"]
        try:
            subprocess.run(command, check=True, stderr=subprocess.PIPE, text=True)
        except subprocess.CalledProcessError as failure:
            failure.add_note(failure.stderr)
            raise
    return ctypes.CDLL(str(library.resolve()))  # a bare name would be looked for among the system's
