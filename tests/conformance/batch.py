"""Knows how many cases become one C program: each compiled by tilewright for this machine, all linked with one `main`.
Does not know which cases there are, nor which of them are supported.
"""

from __future__ import annotations

import subprocess
import traceback
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from conformance.cases import Array, Case
from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.errors import Exit, TilewrightError
from tilewright.ir.graphs.graph import Tensor
from tilewright.runners.toolchain import find_compiler

PASS, REFUSED = "pass", "refused"
TARGET = "generic"
FLAGS = ("-std=c11", "-O0", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-pedantic", "-Werror", "-ffp-contract=off")
LARGE = {"tensor": 1 << 30, "constants": 1 << 31, "folded": 1 << 31, "file": 1 << 31}  # onnx's networks for servers
SECONDS = 120.0  # for one C file, or one run
_HEAD = """#include <stdio.h>
#include <stdlib.h>

static inline void *area(size_t bytes)
{
    void *const memory = malloc(bytes + 1u);
    if (memory == NULL) {
        exit(3);
    }
    return memory;
}

static inline void *taken(size_t bytes)
{
    void *const memory = area(bytes);
    if (fread(memory, 1, bytes, stdin) != bytes) {
        exit(4);
    }
    return memory;
}

static inline void given(const void *memory, size_t bytes)
{
    if (fwrite(memory, 1, bytes, stdout) != bytes) {
        exit(5);
    }
}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of a case: "pass", "refused", "wrong", "internal error", "does not build" or "crash"; and why."""

    name: str
    status: str
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """A case as C: the name of its function, the order of that function's arguments, and its object files."""

    case: Case
    prefix: str
    objects: tuple[str, ...]
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]


def run_batch(cases: Sequence[Case], folder: Path) -> dict[str, Outcome]:
    """Compile, build and run these cases in `folder`, which is empty."""
    outcomes: dict[str, Outcome] = {}
    built: list[Built] = []
    for index, case in enumerate(cases):
        made = compiled(case, f"case_{index}", folder)
        if isinstance(made, Outcome):
            outcomes[case.name] = made
        else:
            built.append(made)
    if built:
        (folder / "main.c").write_text("".join(_main(built)), encoding="ascii")
        objects = [name for each in built for name in each.objects]
        if problem := _cc("-o", "program", "main.c", *objects, "-lm", folder=folder):
            raise RuntimeError(f"the cases do not link: {problem}")
    outcomes |= {each.case.name: _ran(each, index, folder) for index, each in enumerate(built)}
    return outcomes


def compiled(case: Case, prefix: str, folder: Path) -> Built | Outcome:
    """The case as object files in `folder`, or why there are none."""
    try:
        deployment = Deployment(case.model, TARGET, Options(name=prefix, const_format="c", emit=(), limits=LARGE))
        files = deployment.compile().files
        inputs, outputs = tuple(deployment.inputs.values()), tuple(deployment.outputs.values())
    except TilewrightError as error:
        status = "internal error" if error.exit_code is Exit.INTERNAL else REFUSED
        return Outcome(name=case.name, status=status, reason=str(error))
    except Exception:
        return Outcome(name=case.name, status="internal error", reason=traceback.format_exc())
    for name, content in files.items():
        (folder / name).write_bytes(content)
    sources = [name for name in files if name.endswith(".c")]
    problem = _cc("-c", *sources, folder=folder)
    if problem:
        return Outcome(name=case.name, status="does not build", reason=problem)
    objects = tuple(f"{name.removesuffix('.c')}.o" for name in sources)
    return Built(case=case, prefix=prefix, objects=objects, inputs=inputs, outputs=outputs)


def _cc(*arguments: str, folder: Path) -> str:
    command = (*find_compiler().command, *FLAGS, "-I.", *arguments)
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=False)
    return done.stderr if done.returncode else ""


def _main(built: Sequence[Built]) -> Iterator[str]:
    yield from (f'#include "{each.prefix}.h"\n' for each in built)
    yield _HEAD
    for each in built:
        yield f"\nstatic int run_{each.prefix}(void)\n{{\n"
        inputs = {f"i{index}": tensor.size_bytes for index, tensor in enumerate(each.inputs)}
        outputs = {f"o{index}": tensor.size_bytes for index, tensor in enumerate(each.outputs)}
        yield from (f"    void *const {name} = taken({size}u);\n" for name, size in inputs.items())
        yield from (f"    void *const {name} = area({size}u);\n" for name, size in outputs.items())
        yield f"    const int status = (int){each.prefix}({', '.join((*inputs, *outputs))});\n"
        yield from (f"    given({name}, {size}u);\n" for name, size in outputs.items())
        yield "    return status;\n}\n"
    yield "\nint main(int count, char **arguments)\n{\n    switch (count == 2 ? atoi(arguments[1]) : -1) {\n"
    yield from (f"    case {index}: return run_{each.prefix}();\n" for index, each in enumerate(built))
    yield "    default: return 6;\n    }\n}\n"


def _ran(built: Built, index: int, folder: Path) -> Outcome:
    case = built.case
    content = b"".join(np.ascontiguousarray(case.inputs[each.name]).tobytes() for each in built.inputs)
    done = subprocess.run(
        [folder / "program", str(index)], input=content, capture_output=True, timeout=SECONDS, check=False
    )
    if done.returncode:
        return Outcome(name=case.name, status="crash", reason=f"exit status {done.returncode}")
    wrong = difference(case, _decoded(built, done.stdout))
    return Outcome(name=case.name, status="wrong" if wrong else PASS, reason=wrong)


def _decoded(built: Built, content: bytes) -> Mapping[str, Array]:
    values, start = {}, 0
    for tensor in built.outputs:
        stored = np.frombuffer(content, tensor.dtype.numpy, tensor.elements, start)
        values[tensor.name], start = stored.reshape(tensor.shape), start + tensor.size_bytes
    return values


def difference(case: Case, found: Mapping[str, Array]) -> str:
    """What is wrong with the outputs of a case; "" when nothing is. The case's order of outputs is the file's."""
    for (name, got), expected in zip(found.items(), case.outputs, strict=True):
        if (got.dtype, got.shape) != (expected.dtype, expected.shape):
            return f"{name} is {got.dtype}{list(got.shape)}, expected {expected.dtype}{list(expected.shape)}"
        if got.dtype.kind == "f":
            equal = np.allclose(got, expected, rtol=case.relative, atol=case.absolute, equal_nan=True)
        else:
            equal = np.array_equal(got, expected)
        if not equal:
            return f"{name} differs"
    return ""
