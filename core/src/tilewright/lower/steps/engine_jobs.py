"""Knows what the program tells the runtime of jobs that an engine has beside the cores: which bytes they own, from
their start to the wait for them; and how cores share what a job leaves them to do.
Does not know when jobs are started and waited for (`pipeline`, `job_pipeline`), nor what a job computes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tilewright.ir.machines.kernel import Kernel, Operand
from tilewright.ir.machines.platform import Engine
from tilewright.ir.programs.expressions import Cast, Expression, FunctionCall, Name, Number, Struct, Verbatim
from tilewright.ir.programs.statements import JobStart, JobWait
from tilewright.lower.tiles.tile_operands import TiledStep, unsupported_tile

BEHIND = "behind"  # C parameter: jobs that were started later, and may still run
MOST_AXES = 6  # of an operand of a job, as tw_rt.h has them


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberedEngine:
    """An engine, and its number among those of the target."""

    number: int
    engine: Engine


def engine_number(tiling: TiledStep) -> NumberedEngine:
    """The engine on which the kernel of a step has its jobs."""
    engines = tiling.platform.engines
    name = tiling.box.analysis.members[tiling.number].space.engine.name
    at = next((number for number, engine in enumerate(engines) if engine.name == name), 0)
    return NumberedEngine(number=at, engine=engines[at])


def finishing(tiling: TiledStep) -> TiledStep:
    """The step as the cores of the first engine see it, which finish what jobs leave."""
    finish = tiling.kernel.finish
    if finish is None:
        raise ValueError(f"{tiling.kernel.name} leaves nothing to finish")
    kernel = replace(
        tiling.kernel,
        engine="",
        parallel=finish.parallel,
        multiples=finish.multiples,
        blocks={},
        cycles=finish.cycles,
    )
    return replace(tiling, kernel=kernel)


def job_start(
    engine: NumberedEngine,
    kernel: Kernel,
    operands: Mapping[str, Operand],
    written: Sequence[str],
    cycles: Sequence[Expression],
) -> JobStart:
    """What stands behind the call that starts a job. `written` are names of operands; scratch is, too. What the cores
    finish is theirs.
    """
    theirs = written if kernel.finish else ()
    windows = [
        _window(operand, operand.name in ("scratch", *written))
        for operand in operands.values()
        if operand.pointer != "NULL" and 0 not in operand.shape and operand.name not in theirs
    ]
    arguments = (
        Number(engine.number, unsigned=True),
        Verbatim(f'"{kernel.name}"', frozenset()),
        *cycles,
        Struct("const tw_rt_window[]", tuple(windows)),
        Number(len(windows), unsigned=True),
    )
    return JobStart(kernel=kernel.name, code=FunctionCall("tw_rt_engine_start", arguments))


def job_wait(engine: NumberedEngine, kernel: Kernel, behind: Expression) -> JobWait:
    """What stands behind the wait for a job."""
    arguments = (Number(engine.number, unsigned=True), behind)
    return JobWait(kernel=kernel.name, code=FunctionCall("tw_rt_engine_wait", arguments))


def demand_windows(tiling: TiledStep) -> None:
    """TilewrightError TW4041 where an operand has more axes than the runtime is told of."""
    for binding in tiling.bindings:
        if len(binding.shape) > MOST_AXES:
            reason = f"operand {binding.operand} of a job has {len(binding.shape)} axes, more than {MOST_AXES}"
            raise unsupported_tile(tiling.step, reason)


def _window(operand: Operand, written: bool) -> Struct:
    extents = tuple(_number(extent) for extent in operand.extents)
    steps = tuple(Number(step) for step in operand.strides)
    return Struct(
        "",
        (
            Cast("const uint8_t *", Name(operand.pointer)),
            Number(operand.dtype.size_bytes, unsigned=True),
            Number(int(written)),
            Number(len(extents)),
            Struct("", extents),
            Struct("", steps),
        ),
    )


def _number(text: str) -> Expression:
    return Number(int(text)) if text.isdecimal() else Verbatim(text, frozenset(_words(text)))


def _words(text: str) -> frozenset[str]:
    from tilewright.c_text.calls import words

    return words(text)
