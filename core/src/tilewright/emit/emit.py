"""Knows which files a program becomes and what each template is given. Does not decide anything about the program.

`docs/output-format.md` describes the result.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from textwrap import indent

from tilewright.c_text.identifiers import comment_text
from tilewright.c_text.layout import INDENT, WIDTH
from tilewright.c_text.literals import needs_math
from tilewright.c_text.templates import template
from tilewright.emit.border import PortText, parameters_of, port_texts, unreachable_bases
from tilewright.emit.ctree import NEVER_INLINED, print_body, print_run, print_step
from tilewright.emit.emit_options import EmitOptions
from tilewright.emit.kernels import fitted, kernel_fragments
from tilewright.emit.libraries import prebuilt_libraries
from tilewright.emit.lines import FOR_TEMPLATES
from tilewright.emit.tables import memory_map, name_table
from tilewright.emit.weights import blob, byte_array, initialiser
from tilewright.errors import TilewrightError, usage_error
from tilewright.ir.code_fragments import ordered
from tilewright.ir.log_span import INFO, with_log_span
from tilewright.ir.machines.platform import Platform
from tilewright.ir.plans.stages import Artifact
from tilewright.ir.programs.program import Program
from tilewright.ir.programs.statements import Dead, Hook, Live, Statement, StepCall, statements_in
from tilewright.ir.rounding import align_down
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.c_code.c_elements import Elements, loading

INCBIN_FROM_BYTES = 64 * 1024

Names = dict[str, object]


_BEHIND_COPY = "/* Waits for one transfer"  # in tw_rt.h, where more ways to start one are declared


@with_log_span(INFO, "emit: files")
def emit(program: Program, options: EmitOptions) -> Artifact:
    """The files, by name. The same program and options give the same bytes."""
    prefix = program.prefix
    form = _const_format(program, options)
    blobs = {pool.base: blob(program, pool) for pool in program.constants}
    if options.vectors and form == "bin" and blobs:
        raise _no_selftest()
    names, libraries = _names(program, options, form, blobs), prebuilt_libraries(program)
    texts = {
        f"{prefix}.h": _render("header.mako", names),
        f"{prefix}.c": _render("source.mako", names),
        "tw_runtime.h": text("tw_runtime.h"),
        "CMakeLists.txt": _render("cmake.mako", {**names, "libraries": tuple(libraries)}),
        "README.md": _render("readme.mako", names),
    }
    if names["kernels_header"]:
        texts[str(names["kernels_header"])] = _render("kernels_h.mako", names)
    if names["quantize_header"]:
        texts[str(names["quantize_header"])] = _render("quantize_h.mako", names)
    if program.team:
        texts["tw_rt.h"] = _team_header(program.allocated.tiled.scheduled.bound.platform)
    if names["simple"]:
        texts[f"{prefix}_simple.c"] = _render("simple.mako", names)
    if blobs and form == "c":
        texts[f"{prefix}_weights.c"] = _render("weights_c.mako", names)
    if blobs and form == "incbin":
        texts[f"{prefix}_weights.S"] = _render("weights_s.mako", names)
    if names["selftest"]:
        texts[f"{prefix}_selftest.c"] = _render("selftest.mako", names)
    written = {name: _laid_out(name, content).encode("ascii") for name, content in texts.items()}
    if form in ("incbin", "bin"):
        written |= {f"{prefix}_{base}.bin": content for base, content in blobs.items()}
    return _artifact(program, written, libraries, maths=bool(names["maths"]))


def _artifact(program: Program, files: Mapping[str, bytes], libraries: Mapping[str, bytes], *, maths: bool) -> Artifact:
    """The files in the order of their names, each with its part in a build."""
    prefix, names = program.prefix, sorted(files)
    selftest = f"{prefix}_selftest.c"
    return Artifact(
        files=dict(sorted((*files.items(), *libraries.items()))),
        prefix=prefix,
        target=program.allocated.tiled.scheduled.bound.platform.name,
        sources=tuple(name for name in names if name.endswith((".c", ".S")) and name != selftest),
        headers=tuple(name for name in names if name.endswith(".h")),
        blobs=tuple(name for name in names if name.endswith(".bin")),
        libraries=tuple(libraries),
        selftest=selftest if selftest in files else "",
        maths=maths,
        parameters=parameters_of(program),
        pools=tuple(pool.base for pool in program.pools),
        simple=f"{prefix}_simple.c" in files,
    )


def _laid_out(name: str, content: str) -> str:
    """Names of inputs and outputs, in conditions of the interface, may have made lines longer."""
    return fitted(content) if name.endswith((".c", ".h")) else content


@cache
def text(name: str) -> str:
    """The text of a file in `emit/text`."""
    return (files("tilewright.emit") / "text" / name).read_text(encoding="utf-8")


def _render(name: str, names: Names) -> str:
    return str(template(text(name)).render(**names))


def _no_selftest() -> TilewrightError:
    return usage_error(
        "TW1101",
        "--selftest and --const-format bin exclude each other: the self-test has nobody to load the constants",
        fix=("leave one of them out: other forms of constants are linked into the program",),
    )


def _team_header(platform: Platform) -> str:
    """What a program asks of its runtime, with what only this target has."""
    header = text("tw_rt.h")
    if any(path.dimensions > 2 for path in platform.copies):
        header = header.replace(_BEHIND_COPY, text("tw_rt_3d.h") + _BEHIND_COPY)
    return header


def _const_format(program: Program, options: EmitOptions) -> str:
    if options.const_format != "auto":
        return options.const_format
    return "c" if sum(pool.size_bytes for pool in program.constants) < INCBIN_FROM_BYTES else "incbin"


def _names(program: Program, options: EmitOptions, form: str, blobs: Mapping[str, bytes]) -> Names:
    inputs, outputs = port_texts(program, program.inputs, "IN"), port_texts(program, program.outputs, "OUT")
    prefix, complete = program.prefix, form != "bin" or not blobs
    simple, selftest = complete and not program.state_bytes, complete and bool(options.vectors)
    plan, platform = program.allocated, program.allocated.tiled.scheduled.bound.platform
    target, plan_id = comment_text(platform.name), f"0x{plan.plan_id:08x}u"
    names: Names = {
        "program": program,
        "p": prefix,
        "P": prefix.upper(),
        "generator": options.generator,
        "target": target,
        "plan": plan_id,
        "banner": _banner(prefix, options.generator, target, plan_id),
        "safe": comment_text,
        "simple": simple,
        "simple_parameters": _simple_parameters(inputs, outputs),
        "sections": _sections(program),
        "state_align": max([16, *(buffer.align for buffer in plan.tiled.buffers if buffer.kind == "state")]),
        "lasting": bool(program.initial),
        "limits": {pool.base: platform.hard_bytes(pool.memory) for pool in program.pools},
        "unreachable_bases": unreachable_bases(program),
        # What one transfer between the caller's memory and the plan's may carry.
        "most_bytes": align_down(min([1 << 16, *(path.max_bytes for path in platform.copies if path.max_bytes)]), 16),
        "crossings": lambda ports: _crossings(program, ports),
        "licences": _licences(program),
        "here": "${CMAKE_CURRENT_SOURCE_DIR}",
        **FOR_TEMPLATES,
        "memory_map": tuple(memory_map(program)),
        "names_table": name_table(program.names),
        "selftest": selftest,
        **_constant_names(prefix, form, blobs, simple=simple),
        **_port_names(program, inputs, outputs),
        "wanted": tuple(_wanted(inputs)),
        **_quantised_names(prefix, inputs, outputs),
        **_code_names(program, (*inputs, *outputs), split=options.layout == "split"),
        **(_around_waiting(program) if program.waiting else {}),
        **(_selftest_names(options, outputs) if selftest else {}),
    }
    return {**names, "run": _render("rows.mako" if program.waiting else "run.mako", names).strip("\n")}


def _constant_names(prefix: str, form: str, blobs: Mapping[str, bytes], *, simple: bool) -> Names:
    """Where constants are, and so which files are compiled."""
    sources = [f"{prefix}.c", *([f"{prefix}_simple.c"] if simple else [])]
    if blobs and form != "bin":
        sources.append(f"{prefix}_weights.{'c' if form == 'c' else 'S'}")
    return {
        "constants_linked": form != "bin",
        "assembler": form == "incbin" and bool(blobs),
        "sources": sources,
        "blobs": [f"{prefix}_{base}.bin" for base in blobs],
        "bytes_of": {base: byte_array(content) for base, content in blobs.items()} if form == "c" else {},
    }


def _port_names(program: Program, inputs: tuple[PortText, ...], outputs: tuple[PortText, ...]) -> Names:
    ports = (*inputs, *outputs)
    placed = [port for port in ports if port.placed]
    streamed_inputs = [port for port in inputs if port.rows]
    streamed_outputs = [port for port in outputs if port.rows]
    own = [port for port in ports if not port.placed]
    return {
        "inputs": inputs,
        "outputs": outputs,
        "ports": ports,
        "placed_inputs": [port for port in inputs if port.placed],
        "placed_outputs": [port for port in outputs if port.placed],
        "user_inputs": [port for port in inputs if not port.placed],
        "user_outputs": [port for port in outputs if not port.placed],
        "streamed_inputs": streamed_inputs,
        "streamed_outputs": streamed_outputs,
        "several_streamed_inputs": len(streamed_inputs) > 1,
        "several_streamed_outputs": len(streamed_outputs) > 1,
        "streamed": bool(streamed_inputs or streamed_outputs),
        "api_level": 3 if len(streamed_inputs) > 1 else 2 if streamed_inputs or streamed_outputs else 1,
        "mapped": bool(placed) or not ports,
        "unreachable": any(port.unreachable for port in ports),
        "copied": any(not port.unreachable for port in placed) or any(port.copied_from for port in own),
        "aligned": bool(
            program.pools or program.constants or program.state_bytes or any(port.align > 1 for port in ports)
        ),
        "misaligned": (*_misaligned("inputs", inputs), *_misaligned("outputs", outputs)),
    }


def _misaligned(struct: str, ports: Sequence[PortText]) -> Iterator[str]:
    """When a tensor of the caller is copied from or to an address that is not aligned; NULL, which is none, is."""
    for port in ports:
        if port.placed and port.align > 1:
            yield f"({struct} != NULL) && (tw_misaligned({struct}->{port.member}, {port.macro}_ALIGN) != 0)"


def _wanted(inputs: Sequence[PortText]) -> Iterator[str]:
    """The inputs that arrive in rows, in the order in which they are wanted; in one text those that are in turns."""
    steps = sorted({port.rows.step for port in inputs if port.rows})
    for step in steps:
        *others, last = [f"`{port.member}`" for port in inputs if port.rows and port.rows.step == step]
        yield f"{', '.join(others)} and {last}, in turns" if others else last


def _around_waiting(program: Program) -> Names:
    """What is done before the first step that waits for rows; of each such step its call, and what is done after it."""

    def text(statements: Sequence[Statement]) -> str:
        return "\n".join(print_run(statements, program.steps, f"{program.prefix.upper()}_STEP_COUNT"))

    places = [program.body.index(StepCall(step=step)) for step in program.waiting]
    ends = [*places[1:], len(program.body)]
    return {
        "phase_of": lambda port: program.waiting.index(port.rows.step) + 1,
        "before": text(program.body[: places[0]]),
        "waiting": [
            (indent(text(program.body[at : at + 1]), INDENT), indent(text(program.body[at + 1 : end]), INDENT))
            for at, end in zip(places, ends, strict=True)
        ],
        "names_in": _mentions,
    }


def _mentions(code: str, name: str) -> bool:
    """Whether an identifier is in it."""
    return re.search(rf"\b{name}\b", code) is not None


def _quantised_names(prefix: str, inputs: tuple[PortText, ...], outputs: tuple[PortText, ...]) -> Names:
    """What the header that quantises has; 32 bits and more hold integers that no float reaches."""

    def served(ports: tuple[PortText, ...]) -> list[PortText]:
        return [port for port in ports if port.scale and port.elements and port.limits[1] < 1 << 16]

    first, last = served(inputs), served(outputs)
    return {
        "quantised_inputs": first,
        "quantised_outputs": last,
        "quantize_header": f"{prefix}_quantize.h" if first or last else "",
    }


def _code_names(program: Program, ports: Sequence[PortText], *, split: bool) -> Names:
    whole = (*program.before_inputs, *program.body, *program.after_outputs)
    statements = [*statements_in(whole), *(statement for step in program.steps for statement in step.statements)]
    body = "\n".join(print_run(program.body, program.steps, f"{program.prefix.upper()}_STEP_COUNT"))
    addresses = [address for port in ports for address in (port.address, port.copied_from) if address]
    steps = [print_step(step) for step in program.steps]
    kernels = kernel_fragments(program)
    includes = {*program.includes, "<stddef.h>", *(["<float.h>"] if program.uses_float else [])}
    includes |= {name for section in kernels for name in section.includes}
    if any(needs_math(code) for code in (body, *steps)):  # a number that a kernel is called with
        includes.add("<math.h>")
    return {
        "kernels": "\n\n".join(section.text for section in kernels),
        "kernels_header": f"{program.prefix}_kernels.h" if split and kernels else "",
        "includes": sorted(includes),
        "maths": "<math.h>" in includes,
        "steps": steps,
        "sharing": any(part.role in NEVER_INLINED for step in program.steps for part in step.parts),
        "before_inputs": "\n".join(print_body(program.before_inputs, 1, program.steps)),
        "body": body,
        "after_outputs": "\n".join(print_body(program.after_outputs, 1, program.steps)),
        "initial": "\n".join(print_body(program.initial, 1, program.steps)),
        "used_pools": [pool for pool in program.pools if _mentions("\n".join((body, *addresses)), pool.base)],
        "used_constants": [pool for pool in program.constants if _mentions(body, pool.base)],
        "hooked": any(isinstance(statement, Hook) for statement in statements),
        "lifetimes": any(isinstance(statement, (Live, Dead)) for statement in statements),
    }


def _selftest_names(options: EmitOptions, outputs: tuple[PortText, ...]) -> Names:
    return {
        "vectors": [
            {
                "inputs": {name: initialiser(array) for name, array in vector.inputs.items()},
                "outputs": {name: initialiser(array) for name, array in vector.outputs.items()},
            }
            for vector in options.vectors
        ],
        "floats": [
            _comparison(dtype, options) for dtype in dict.fromkeys(port.dtype for port in outputs) if dtype.is_float
        ],
        "exact": any(not port.dtype.is_float for port in outputs),
    }


def _usual(dtype: DType, options: EmitOptions) -> float:
    """The median size of the values of a type that are expected, but those that are 0, infinite or no numbers; 1 at
    least. One huge value among them changes nothing.
    """
    import numpy as np

    arrays = [array for vector in options.vectors for array in vector.outputs.values() if array.dtype == dtype.numpy]
    sizes = np.concatenate([np.zeros(0), *(np.abs(array.astype(np.float64)).ravel() for array in arrays)])
    ordered = np.sort(sizes[np.isfinite(sizes) & (sizes > 0)])
    return max(1.0, float(ordered[(len(ordered) - 1) // 2])) if len(ordered) else 1.0


def _comparison(dtype: DType, options: EmitOptions) -> Names:
    """How the self-test compares floats of one type."""
    elements = Elements(dtype=dtype)
    text = "\n\n".join(section.text for section in ordered((loading(dtype),))) if dtype.is_half else ""
    letter = "" if dtype is DType.F64 else "f"
    return {
        "kind": dtype.value,
        "type": dtype.c_type,
        "load": elements.load,
        "functions": text.replace("TW_KERNEL", "static"),
        "size": f"fabs{letter}",
        "absolute": f"{max(options.absolute_tolerance, options.half_share * _usual(dtype, options))!r}{letter}",
        "relative": f"{max(options.relative_tolerance, 4 * dtype.unit, options.half_share)!r}{letter}",
    }


def _simple_parameters(inputs: tuple[PortText, ...], outputs: tuple[PortText, ...]) -> list[str]:
    def parameter(port: PortText, const: str) -> str:
        return f"{const}{port.type} {port.member}[{port.length}]"

    return [*(parameter(port, "const ") for port in inputs), *(parameter(port, "") for port in outputs)]


def _sections(program: Program) -> dict[str, str]:
    constants = {pool.base: pool.section or f".rodata.tw.{program.prefix}.{pool.base}" for pool in program.constants}
    ram = {pool.base: pool.memory if pool.copies else pool.base for pool in program.pools}
    return constants | {pool.base: pool.section or f".bss.tw.{ram[pool.base]}" for pool in program.pools}


def _crossings(program: Program, ports: list[PortText]) -> Iterator[tuple[str, str, list[PortText]]]:
    """Who moves which tensors between the caller and the plan, and with which function."""
    for unreachable, by, function in (
        (False, "", "tw_copy_tensor"),
        (True, " && tw_rt_is_dma_core()", "tw_send_tensor"),
    ):
        moved = [port for port in ports if port.unreachable == unreachable]
        if moved:
            yield by, function, moved


def _licences(program: Program) -> str:
    lines = [
        f" *   {comment_text(licence.kernel)}  SPDX-License-Identifier: {comment_text(licence.licence)}"
        for licence in program.licences
    ]
    return "\n".join(("/* Kernels that other packages brought keep their own licence:", *lines, " */"))


def _banner(prefix: str, generator: str, target: str, plan: str) -> Callable[[str, str], str]:
    def banner(name: str, what: str) -> str:
        head = f"/* {name} - network '{prefix}':"
        between = " " if len(f"{head} {what}.") <= WIDTH else "\n * "
        return (
            f"{head}{between}{what}.\n"
            " *\n"
            f" * Generated by {generator} for target {target}, plan {plan[:-1]}. Do not edit: generate again.\n"
            " * What tilewright wrote here, its own kernels included, is yours: use, change and ship it,\n"
            " * without conditions and without warranty.\n"
            " */"
        )

    return banner
