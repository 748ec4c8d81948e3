"""Knows whether a function of a kernel has more locals than its target has room for stacks. Does not know how deep
calls go, nor what a compiler for the target would take: what it finds is far too much on every machine.
"""

from __future__ import annotations

import re
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
_ASKED = ("-O1", "-fno-inline", _APART)
_FUNCTION = re.compile(r"[Ii]n function ['‘](\w+)")  # of gcc and of clang
_BYTES = re.compile(r"frame size \D*(\d+)")


def stack_fault(layer: Layer, inputs: Sequence[Array | None], room_bytes: int, folder: Path) -> str | None:
    """The function of a kernel whose locals alone exceed `room_bytes`, what the target's runtime takes of its memories
    (`Platform.runtime_bytes`); None where there is none.
    """
    layouts = {**layer.preferred, **layer.required}
    trial = whole_trial(layer.operator, layer.kernel, layer.site, inputs, layouts=layouts)
    source = folder / "stack.c"
    source.write_text(library_text([trial]), encoding="utf-8")
    requested = (*STRICT, *_ASKED, f"-Werror=frame-larger-than={room_bytes}")
    command = [*find_compiler().command, *requested, "-c", "-o", str(folder / "stack.o"), str(source)]
    said = subprocess.run(command, capture_output=True, text=True, check=False).stderr
    size, function = _BYTES.search(said), _FUNCTION.search(said)
    if size is None:
        return None
    name = function[1] if function else ""
    where = f"function '{name}'" if name and not name.startswith("tw_test") else "the call"
    return (
        f"kernel '{layer.kernel.name}': {where} has {int(size[1]):,} bytes of locals, and the target has "
        f"{room_bytes:,} for stacks and all else of its runtime (`Platform.runtime_bytes`): keep them in scratch "
        "(`scratch_bytes`), which the plan places, or declare a larger stack"
    )
