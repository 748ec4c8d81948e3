"""Knows what an artifact is to a build system: sources, headers, blobs, and the function to call.
Does not know any build system.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tilewright import __version__

if TYPE_CHECKING:
    from tilewright.ir.stages import Artifact

SHARED_HEADERS = ("tw_runtime.h", "tw_rt.h")  # the same in every model
PARAMETER = re.compile(r"(const )?(\w+) (\w+)\[(\w+)\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorParameter:
    """One tensor of the simple API, as declared: `const float image[KWS_IN_IMAGE_ELEMENTS]`."""

    name: str
    type: str
    elements: str  # a macro
    is_input: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Library:
    """The generated files by their part in a build. Names are relative to the folder that is written."""

    prefix: str
    version: str  # of tilewright: the network itself has none
    sources: tuple[str, ...]  # what the static library is built from, the self-test excluded
    headers: tuple[str, ...]
    blobs: tuple[str, ...]  # what a `.S` among the sources includes, or what the application loads
    selftest: str  # the source with a `main`, or ""
    maths: bool  # <math.h> is used
    parameters: tuple[TensorParameter, ...] | None  # of the simple API; None: there is no simple API
    files: Mapping[str, bytes] = field(repr=False)

    @property
    def assembled(self) -> tuple[str, ...]:
        """The sources in assembler."""
        return tuple(name for name in self.sources if name.endswith(".S"))


def library_of(artifact: Artifact) -> Library:
    """Read the parts off the files, whose names and declarations `docs/output-format.md` fixes."""
    files = artifact.files
    headers = tuple(sorted(name for name in files if name.endswith(".h")))
    stems = (name.removesuffix(".h") for name in headers if name not in SHARED_HEADERS)
    (prefix,) = (stem for stem in stems if f"{stem}.c" in files)
    selftest = f"{prefix}_selftest.c"
    return Library(
        prefix=prefix,
        version=__version__,
        sources=tuple(sorted(name for name in files if name.endswith((".c", ".S")) and name != selftest)),
        headers=headers,
        blobs=tuple(sorted(name for name in files if name.endswith(".bin"))),
        selftest=selftest if selftest in files else "",
        maths=b"#include <math.h>" in files[f"{prefix}.c"],  # in both layouts
        parameters=_parameters(files[f"{prefix}.h"].decode(), prefix) if f"{prefix}_simple.c" in files else None,
        files=files,
    )


def _parameters(header: str, prefix: str) -> tuple[TensorParameter, ...]:
    declared = re.search(rf"^tw_status {prefix}\((.*?)\);", header, re.MULTILINE | re.DOTALL)
    if declared is None:
        raise RuntimeError(f"{prefix}.h does not declare {prefix}()")
    return tuple(
        TensorParameter(name=name, type=element, elements=elements, is_input=bool(const))
        for const, element, name, elements in PARAMETER.findall(declared[1])
    )
