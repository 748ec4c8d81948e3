"""Knows what each generated file is to a build system, and what the simple API is given.
Does not know what is in the files.
"""

from __future__ import annotations

from collections.abc import Mapping

from tilewright.emit.border import port_texts
from tilewright.ir.plans.stages import Artifact, TensorParameter
from tilewright.ir.programs.program import Program


def artifact_of(
    prefix: str, files: Mapping[str, bytes], *, maths: bool, parameters: tuple[TensorParameter, ...] | None
) -> Artifact:
    """The files in the order of their names, each with its part in a build."""
    names, selftest = sorted(files), f"{prefix}_selftest.c"
    return Artifact(
        files={name: files[name] for name in names},
        prefix=prefix,
        sources=tuple(name for name in names if name.endswith((".c", ".S")) and name != selftest),
        headers=tuple(name for name in names if name.endswith(".h")),
        blobs=tuple(name for name in names if name.endswith(".bin")),
        selftest=selftest if selftest in files else "",
        maths=maths,
        parameters=parameters,
    )


def parameters_of(program: Program) -> tuple[TensorParameter, ...]:
    """Of the simple API: inputs in the order of the graph, then outputs."""
    inputs, outputs = port_texts(program, program.inputs, "IN"), port_texts(program, program.outputs, "OUT")
    return tuple(
        TensorParameter(name=port.member, type=port.type, elements=port.length, is_input=is_input)
        for ports, is_input in ((inputs, True), (outputs, False))
        for port in ports
    )
