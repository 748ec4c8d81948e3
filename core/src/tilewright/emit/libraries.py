"""Knows the prebuilt libraries of kernels as files of a program: each beside the sources, under its own name, so that a
folder builds on another machine. Does not know how a build system links them.
"""

from __future__ import annotations

from pathlib import Path

from tilewright.errors import TilewrightError, plugin_error
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.programs.program import Program


def prebuilt_libraries(program: Program) -> dict[str, bytes]:
    """What the kernels of a program link (`Kernel.libraries`), by the file's name; in the order of the names.

    TilewrightError (exit 8): TW9024 for a file that cannot be read, TW9025 for two that differ and have one name.
    """
    kernels = {
        binding.kernel.name: binding.kernel for binding in program.allocated.tiled.scheduled.bound.bindings.values()
    }
    result: dict[str, tuple[str, bytes]] = {}
    for name, kernel in sorted(kernels.items()):
        for path in kernel.libraries:
            content, own = _read(path, kernel), Path(path).name
            other, known = result.setdefault(own, (name, content))
            if known != content:
                raise plugin_error(
                    "TW9025",
                    f"kernels '{other}' and '{name}' link different files that are called '{own}'",
                    fix=("use kernels of one of the packages only, or ask its author for another name of the file",),
                )
    return {own: content for own, (_, content) in sorted(result.items())}


def _read(path: str, kernel: Kernel) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise _unreadable(path, kernel, error) from error


def _unreadable(path: str, kernel: Kernel, error: OSError) -> TilewrightError:
    return plugin_error(
        "TW9024",
        f"kernel '{kernel.name}' links '{Path(path).name}', which cannot be read: {error.strerror}",
        where=path,
        fix=("install the package of the kernel again, or report it to its author: the file is not in the package",),
    )
