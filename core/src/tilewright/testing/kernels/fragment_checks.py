"""Knows how the C in files is shown to be C: each file compiled on its own, and all sections of kernels together.
Does not know what any of it computes.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.resources import as_file, files
from pathlib import Path

from tilewright.c_text.fragment_files import CORE
from tilewright.c_text.rendering import render_source
from tilewright.ir.code_fragments import CodeFragment, ordered
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.plans.layer import matched
from tilewright.operators.c_code.c_source import c_fragment
from tilewright.runners.toolchain import find_compiler
from tilewright.testing.kernels.kernel_run import STRICT, whole_call
from tilewright.testing.kernels.stored_layers import as_called, asked_about
from tilewright.testing.operator_sites import Sample, site_of

# A file, or all sections together, have static functions that nobody calls there.
ALONE = (*STRICT, "-Wno-unused-function")


def c_files(package: str) -> tuple[str, ...]:
    """Every `.c` and `.h` file in the folder of `package` and below, as paths from there."""
    with as_file(files(package)) as folder:
        paths = (path for path in folder.rglob("*.[ch]"))
        return tuple(sorted(path.relative_to(folder).as_posix() for path in paths))


def compile_alone(package: str, path: str, folder: Path, flags: Sequence[str] = ALONE) -> str:
    """What a compiler has to say about one file, with nothing but the core's C to include; "" is nothing."""
    with as_file(files(package)) as here, as_file(files(CORE)) as core:
        text = f'#include "{here / path}"\ntypedef int something; /* a file of macros only is no program */\n'
        return _complaints(text, folder, (*flags, "-I", str(core)))


def compile_together(
    fragments: Iterable[CodeFragment], prelude: str, folder: Path, flags: Sequence[str] = ALONE
) -> str:
    """The same about sections in one file, in their order. Raises TilewrightError as `ordered` does."""
    own = CodeFragment(name="", text=prelude)
    kept = ordered((c_fragment("prelude.h"), own, *fragments))
    names = sorted({"<math.h>", "<stdint.h>", "<string.h>"}.union(*(section.includes for section in kept)))
    lines = (*(f"#include {name}" for name in names), *(section.text for section in kept), "")
    return _complaints("\n\n".join(lines), folder, flags)


def fragments_of(
    kernels: Iterable[Kernel], operators: Mapping[str, Operator], layers: Sequence[Sample]
) -> Iterator[CodeFragment]:
    """What the kernels have at file scope for every one of the layers that they accept."""
    for kernel in kernels:
        for layer in layers:
            if layer.op == asked_about(kernel):
                yield from _sections(kernel, operators[layer.op], layer)


def _sections(kernel: Kernel, operator: Operator, layer: Sample) -> tuple[CodeFragment, ...]:
    site = site_of(operator, layer.inputs, layer.attributes, layer.constants)
    called = as_called(operator, kernel, site, layer.inputs)
    known = called if isinstance(called, str) else matched(called.operator, called.kernel, called.site)
    if isinstance(called, str) or isinstance(known, str):
        return ()
    call, _ = whole_call(known, called.inputs, layouts=known.required)
    return render_source(known.kernel, call)


def _complaints(text: str, folder: Path, flags: Sequence[str]) -> str:
    source = folder / "sections.c"
    source.write_text(text, encoding="ascii")
    command = [*find_compiler().command, *flags, "-c", "-o", str(folder / "sections.o"), str(source)]
    return subprocess.run(command, capture_output=True, text=True, check=False).stderr
