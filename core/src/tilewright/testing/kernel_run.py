"""Knows how to compile one kernel for this machine and run it on arrays.
Does not know the pipeline: no graph, no plan, no generated API.
"""

from __future__ import annotations

import ctypes
import os
import shlex
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tilewright.c_text.rendering import render_call, render_source
from tilewright.ir.access import Window
from tilewright.ir.graph import Site
from tilewright.ir.kernel import Call, Kernel, Operand
from tilewright.ir.layer import layer_of
from tilewright.ir.layout import Layout, row_major, strides
from tilewright.ir.operator import Operator
from tilewright.ir.sections import ordered
from tilewright.operators.c_source import c_section
from tilewright.testing.guarded_call import guarded_call

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
UBSAN = (*STRICT, "-O1", "-fsanitize=undefined", "-fno-sanitize-recover=all")


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
    import numpy as np

    layouts = layouts or {}
    call, arrays = whole_call(operator, kernel, site, inputs, layouts=layouts)
    for source, output in layer_of(operator, kernel, site).in_place if in_place else ():
        arrays[output] = arrays[source] = arrays[source].copy().view(arrays[output].dtype)
    library = build_library(kernel, call, folder, flags)
    guarded_call(library.tw_test, [*arrays.values()])
    results = []
    for operand, tensor in zip(operator.outputs, site.outputs, strict=False):
        layout = layouts.get(operand, row_major(len(tensor.shape)))
        results.append(arrays[operand].transpose(np.argsort(layout)))
    return tuple(results)


def whole_call(
    operator: Operator,
    kernel: Kernel,
    site: Site,
    inputs: Sequence[Array | None],
    *,
    layouts: Mapping[str, Layout],
) -> tuple[Call, dict[str, Array]]:
    """The call that computes the whole of `site`, and its operands in the order of their pointers, outputs zero."""
    import numpy as np

    layer = layer_of(operator, kernel, site)
    arrays: dict[str, Array] = {}
    operands: dict[str, Operand] = {}
    by_name = dict(zip((tensor.name if tensor else "" for tensor in site.inputs), inputs, strict=True))
    for source in layer.sources(site):
        operand, tensor_name = source.operand, source.tensor
        array = np.asarray(layer.packed[operand] if not tensor_name else by_name[tensor_name])
        layout = layouts.get(operand, row_major(array.ndim)) if tensor_name else row_major(array.ndim)
        arrays[operand] = np.ascontiguousarray(array.transpose(layout))
        operands[operand] = _operand(operand, array.shape, array.dtype, layout, len(arrays) - 1, "const ")
    for operand, tensor in zip(operator.outputs, site.outputs, strict=False):
        layout = layouts.get(operand, row_major(len(tensor.shape)))
        arrays[operand] = np.zeros([tensor.shape[axis] for axis in layout], tensor.dtype.numpy)
        operands[operand] = _operand(operand, tensor.shape, tensor.dtype.numpy, layout, len(arrays) - 1, "")
    access, box = layer.access, layer.whole.box
    operands = {name: _of_window(operand, access.window(name, box)) for name, operand in operands.items()}
    scratch_bytes = kernel.scratch_bytes(layer.whole)
    arrays["scratch"] = np.zeros(scratch_bytes, np.uint8)
    operands["scratch"] = _operand("scratch", (scratch_bytes,), np.dtype(np.uint8), (0,), len(arrays) - 1, "")
    extents = {loop.name: str(loop.extent) for loop in access.loops}
    return Call(site=layer.site, operands=operands, extents=extents, name="step"), arrays


def _operand(name: str, shape: Sequence[int], dtype: object, layout: Layout, index: int, const: str) -> Operand:
    import numpy as np

    from tilewright.ir.dtypes import DType

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


def build_library(
    kernel: Kernel, call: Call, folder: Path, flags: Sequence[str] = STRICT, *, values: bool = False
) -> ctypes.CDLL:
    """A library with `void tw_test(void *const *tw_p)` around the call; with `values`, also `const int32_t *tw_v`."""
    parameters = "void *const *tw_p, const int32_t *tw_v" if values else "void *const *tw_p"
    includes = "\n".join(f"#include {name}" for name in dict.fromkeys(("<stdint.h>", "<math.h>", *kernel.includes)))
    text = "\n".join(
        (
            includes,
            *(section.text for section in ordered((c_section("prelude.h"), *render_source(kernel, call)))),
            f"void tw_test({parameters});",
            f"void tw_test({parameters})",
            "{",
            f"    {render_call(kernel, call)}",
            "    (void)tw_p;",
            *(["    (void)tw_v;"] if values else []),
            "}",
            "",
        )
    )
    compiler = [*shlex.split(os.environ.get("CC", "cc")), *flags]
    source, library = folder / "kernel.c", folder / f"kernel_{abs(hash((text, *compiler)))}.so"
    if not library.exists():  # else an earlier call has had the same kernel, site and layouts
        source.write_text(text, encoding="utf-8")
        subprocess.run([*compiler, "-shared", "-fPIC", "-o", str(library), str(source), "-lm"], check=True)
    return ctypes.CDLL(str(library.resolve()))  # a bare name would be looked for among the system's
