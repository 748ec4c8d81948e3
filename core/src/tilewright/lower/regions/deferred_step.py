"""Knows a step of which the engine is waited for behind a later one: what its own function does, up to the start of the
job, and what is left for the end of the later step's function.
Does not know which steps stand in between.

    the step           the DMA core fetches operands and waits for them; barrier; core 0 starts the job
    the later step     .. ; core 0 waits for the job; barrier; all cores finish it, barrier; the DMA core stores outputs
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tilewright.ir.programs.expressions import Number
from tilewright.ir.programs.program import Part
from tilewright.ir.programs.statements import Barrier, Mark, Raw, Statement, replaced, statements_in
from tilewright.ir.programs.subexpressions import names
from tilewright.lower.operands.scope import declared, names_of
from tilewright.lower.regions.operand_moves import FIRST, OperandMove
from tilewright.lower.regions.pipeline import Pipeline, after_tile, before_tile, declarations, move_of, pointed
from tilewright.lower.steps.compute import compute_part
from tilewright.lower.steps.engine_jobs import BEHIND, demand_windows
from tilewright.lower.steps.step_ending import Ending
from tilewright.lower.tiles.parts import call_part
from tilewright.lower.tiles.tile_operands import TiledStep, unsupported_tile


def deferred_step(tiling: TiledStep) -> tuple[Pipeline, Ending]:
    """The beginning of a step in one tile, or in one piece, and its end. TilewrightError TW4041 for several tiles."""
    levels = tiling.nest.levels
    if any(level.moving for level in levels) or tiling.sums is not None:
        raise unsupported_tile(tiling.step, "a job is waited for behind a later step, and is one of several")
    demand_windows(tiling)
    (start, sources), (wait, _) = compute_part(tiling, "start"), compute_part(tiling, "wait")
    finish, more = compute_part(tiling, "finish") if tiling.kernel.finish else (None, ())
    begin: tuple[Statement, ...] = (call_part(start, {}),)
    end: tuple[Statement, ...] = (call_part(wait, {BEHIND: Number(0)}),)
    end = (*end, Barrier(), call_part(finish, {})) if finish else end
    brought, taken = [start], [wait, *([finish] if finish else [])]
    for at in reversed(range(len(levels))):
        moves = [move_of(tiling, at, slot) for slot in tiling.slots[at]]
        before, after = (_placed(tiling, moves, side(moves, levels[at])) for side in (before_tile, after_tile))
        begin = _declared(tiling, moves, at, (*before, *pointed(begin, moves, levels[at])))
        end = _declared(tiling, moves, at, (*pointed(end, moves, levels[at]), *after))
        for move in moves:
            (taken if move.slot.binding.written else brought).insert(0, move.part)
    begin, end = (begin, end) if levels else ((Barrier(), *begin), (*end, Barrier()))
    return (
        Pipeline(body=begin, parts=tuple(brought), sources=((*sources, *more),)),
        Ending(part=_end(tiling, end), parts=tuple(taken)),
    )


def _declared(
    tiling: TiledStep, moves: Sequence[OperandMove], at: int, body: tuple[Statement, ...]
) -> tuple[Statement, ...]:
    return (*declared(declarations(tiling.book, tiling.nest.levels[at], moves, at), body), *body)


def _placed(tiling: TiledStep, moves: Sequence[OperandMove], body: tuple[Statement, ...]) -> tuple[Statement, ...]:
    """Marks with addresses instead of slots, which are no variables where nothing is moved."""
    addresses = {move.bytes(FIRST): tiling.book.of_buffer(move.slot.buffers[0]).address for move in moves}

    def placed(statement: Statement) -> tuple[Statement, ...]:
        if isinstance(statement, Mark):
            return (replace(statement, pointer=addresses.get(statement.pointer, statement.pointer)),)
        return (statement,)

    return replaced(body, placed)


def _end(tiling: TiledStep, body: tuple[Statement, ...]) -> Part:
    """The function of what is left; memories that only marks name are its parameters, too."""
    marked = names(statement.pointer for statement in statements_in(body) if isinstance(statement, Mark))
    mentioned = names_of(body)
    bases = {base.name: base for base in tiling.book.bases if base.name in mentioned | marked}
    parameters = tuple(bases.values())
    unused = tuple(Raw(text=f"(void){base.name};") for base in parameters if base.name not in mentioned)
    return Part(
        role="pipeline",
        function=f"{tiling.function}_end",
        comment=(f"Waits for the job of {tiling.function}, and takes what it has left.",),
        parameters=parameters,
        body=(*unused, *body),
    )
