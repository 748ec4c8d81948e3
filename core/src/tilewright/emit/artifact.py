"""Knows what each generated file is to a build system, and how its inputs, outputs and pools are called in C.
Does not know what is in the files.
"""

from __future__ import annotations

from collections.abc import Mapping

from tilewright.emit.border import port_texts
from tilewright.ir.plans.stages import Artifact, TensorParameter
from tilewright.ir.programs.program import Program


def artifact_of(program: Program, files: Mapping[str, bytes], *, maths: bool) -> Artifact:
    """The files in the order of their names, each with its part in a build."""
    prefix, names = program.prefix, sorted(files)
    selftest = f"{prefix}_selftest.c"
    return Artifact(
        files={name: files[name] for name in names},
        prefix=prefix,
        sources=tuple(name for name in names if name.endswith((".c", ".S")) and name != selftest),
        headers=tuple(name for name in names if name.endswith(".h")),
        blobs=tuple(name for name in names if name.endswith(".bin")),
        selftest=selftest if selftest in files else "",
        maths=maths,
        parameters=parameters_of(program),
        pools=tuple(pool.base for pool in program.pools),
        simple=f"{prefix}_simple.c" in files,
    )


def parameters_of(program: Program) -> tuple[TensorParameter, ...]:
    """Inputs in the order of the graph, then outputs."""
    inputs, outputs = port_texts(program, program.inputs, "IN"), port_texts(program, program.outputs, "OUT")
    return tuple(
        TensorParameter(value=port.value, name=port.member, type=port.type, elements=port.length, is_input=is_input)
        for ports, is_input in ((inputs, True), (outputs, False))
        for port in ports
    )
