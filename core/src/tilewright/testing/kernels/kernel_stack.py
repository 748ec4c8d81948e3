"""Knows whether a function of a kernel has more locals than its target has room for stacks. Does not know how deep
calls go, nor what a compiler for the target would take: what it finds is far too much on every machine.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tilewright.ir.plans.layer import Layer
from tilewright.runners.toolchain import find_compiler
from tilewright.testing.kernels.kernel_run import STRICT, library_text, whole_trial

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

_APART = "-DTW_KERNEL=static __attribute__((noinline, unused))"  # by function, as they are written
_ASKED = ("-O1", "-fno-inline", "-fstack-usage", _APART)


def stack_fault(layer: Layer, inputs: Sequence[Array | None], room_bytes: int, folder: Path) -> str | None:
    """The function of a kernel whose locals alone exceed `room_bytes`, what the target's runtime takes of its memories
    (`Platform.runtime_bytes`); None where there is none.
    """
    layouts = {**layer.preferred, **layer.required}
    trial = whole_trial(layer.operator, layer.kernel, layer.site, inputs, layouts=layouts)
    source, listed = folder / "stack.c", folder / "stack.su"
    source.write_text(library_text([trial]), encoding="utf-8")
    command = [*find_compiler().command, *STRICT, *_ASKED, "-c", "-o", str(folder / "stack.o"), str(source)]
    subprocess.run(command, check=True, capture_output=True, text=True)
    lines = [line.split("\t") for line in listed.read_text(encoding="utf-8").splitlines()] if listed.exists() else []
    locals_bytes = {name.rpartition(":")[2]: int(size) for name, size, *_ in lines}
    most = max(locals_bytes, key=locals_bytes.__getitem__, default="")
    if not most or locals_bytes[most] <= room_bytes:
        return None
    function = "the call" if most.startswith("tw_test") else f"function '{most}'"
    return (
        f"kernel '{layer.kernel.name}': {function} has {locals_bytes[most]:,} bytes of locals, and the target has "
        f"{room_bytes:,} for stacks and all else of its runtime (`Platform.runtime_bytes`): keep them in scratch "
        "(`scratch_bytes`), which the plan places, or declare a larger stack"
    )
