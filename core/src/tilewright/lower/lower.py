"""Knows the `lower` stage: from a plan to a Program, step by step.
Does not know how C is printed, nor what is inside a step.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tilewright.c_text.fragment_files import fragment_file
from tilewright.c_text.identifiers import demand_prefix
from tilewright.ir.code_fragments import CodeFragment, ordered
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.log_span import INFO, with_log_span
from tilewright.ir.machines.routes import copy_grain, most_in_flight
from tilewright.ir.plans.stages import Allocated
from tilewright.ir.programs.program import KernelLicence, Program, waits_in
from tilewright.ir.programs.statements import StepCall
from tilewright.lower.line_buffers.streamed_io import with_rows
from tilewright.lower.names import names_in_full, offset_names, shown_names
from tilewright.lower.operands.addresses import address_book, members_of, ports_of
from tilewright.lower.regions.tiled_region import Lowering, is_team, keeps_rows, lower_region, lowering, rows_section
from tilewright.lower.steps.persistent import copies_at_start, state_initialisers, state_updates
from tilewright.lower.steps.step_ending import Ending
from tilewright.lower.steps.whole_step import Lowered, lower_step

TILES = ("ranges", "tiles", "windows", "transfers")  # the C of all programs that move tiles
ALWAYS_INCLUDED = ("<limits.h>", "<stdint.h>", "<string.h>")


@with_log_span(INFO, "lower: a plan as C statements")
def lower(allocated: Allocated, operators: Mapping[str, Operator], prefix: str) -> Program:
    """Turn every step into a C function, and name everything at the program's border.

    `prefix` begins every external name; `identifiers.prefix_from_file` makes one.
    Raises TilewrightError TW1004 (exit 2) for a prefix that C or the linker would not take, and TW5020 (exit 5) where
    `--io user` is asked for a tensor that cannot stay with the caller.
    """
    demand_prefix(prefix)
    scheduled = allocated.tiled.scheduled
    graph = scheduled.bound.graph
    members = members_of(graph, prefix)
    short = shown_names(allocated)
    book = address_book(allocated, members, offset_names(allocated, operators, prefix), short)
    total = len(scheduled.steps)
    context = lowering(book, operators, prefix)
    lowered, helpers = _steps(context, operators, prefix)
    includes = {name for step in lowered for name in step.kernel.includes}
    team = is_team(scheduled.bound.platform)
    return Program(
        allocated=allocated,
        prefix=prefix,
        inputs=with_rows(ports_of(allocated, book, members, "inputs"), context.machine, allocated.tiled.regions),
        outputs=with_rows(ports_of(allocated, book, members, "outputs"), context.machine, allocated.tiled.regions),
        offsets=book.offsets,
        pools=book.pools,
        constants=book.constants,
        state_bytes=sum(use.used_bytes for use in allocated.pools if use.kind == "state"),
        state_initialisers=state_initialisers(allocated, book),
        initial=copies_at_start(book),
        includes=tuple(sorted({*includes, *ALWAYS_INCLUDED})),
        sources=ordered((*helpers, *(section for step in lowered for section in step.sources))),
        steps=tuple(replace(step.code, waits=waits_in(step.code)) for step in lowered),
        body=(*(StepCall(step=index) for index in range(total)), *state_updates(allocated, book, team=team)),
        licences=_licences(lowered),
        names=names_in_full(allocated, short),
        team=team,
    ).verify()


def _steps(
    context: Lowering, operators: Mapping[str, Operator], prefix: str
) -> tuple[list[Lowered], tuple[CodeFragment, ...]]:
    """The steps in order, and the C that all of them need."""
    tiled = context.book.allocated.tiled
    if not is_team(tiled.scheduled.bound.platform):
        return _alone(context, operators, prefix)
    made = [step for region in tiled.regions for step in lower_region(region, context)]
    most = most_in_flight(tiled.scheduled.bound.platform.copies)
    transfers = CodeFragment(name="tilewright/transfers", text=f"#define TW_TRANSFERS {most}u")
    helpers = [transfers, *(fragment_file("tilewright.lower", f"text/{name}.c") for name in TILES)]
    if any(path.dimensions > 2 for path in tiled.scheduled.bound.platform.copies):
        helpers.append(fragment_file("tilewright.lower", "text/planes.c"))
    if copy_grain(tiled.scheduled.bound.platform) > 1:
        helpers.append(fragment_file("tilewright.lower", "text/padded.c"))
    if any(keeps_rows(region) for region in tiled.regions):
        helpers.append(rows_section())
    return _with_endings(made, context), tuple(helpers)


def _with_endings(lowered: list[Lowered], context: Lowering) -> list[Lowered]:
    """The steps, behind each what is left of those whose engines are waited for there."""
    endings: dict[str, list[Ending]] = {}
    for step in lowered:
        if step.ending is not None:
            endings.setdefault(context.machine.scheduled.deferred[step.code.step], []).append(step.ending)
    result = []
    for step in lowered:
        code = step.code
        for ending in endings.get(code.step, ()):
            code = ending.behind(code, context.book)
        result.append(replace(step, code=code))
    return result


def _alone(
    context: Lowering, operators: Mapping[str, Operator], prefix: str
) -> tuple[list[Lowered], tuple[CodeFragment, ...]]:
    """The same for one core with one memory: steps in one piece, or row by row."""
    tiled = context.book.allocated.tiled
    steps, numbers, made = tiled.scheduled.steps, context.machine.numbers, list[Lowered]()
    nodes = context.machine.nodes
    for region in tiled.regions:
        if region.line_buffers is not None:
            from tilewright.lower.line_buffers.region import lower_line_buffers

            made.extend(lower_line_buffers(region, context))
            continue
        for name in region.steps:
            step, node = steps[numbers[name]], nodes[steps[numbers[name]].nodes[-1]]
            made.append(lower_step(numbers[name], step, node, context.book, operators, prefix, len(steps)))
    return made, ()


def _licences(lowered: list[Lowered]) -> tuple[KernelLicence, ...]:
    foreign = {
        step.kernel.name: KernelLicence(kernel=step.kernel.name, licence=step.kernel.licence)
        for step in lowered
        if not step.kernel.name.startswith("portable.")
    }
    return tuple(foreign[name] for name in sorted(foreign))
