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
from tilewright.ir.programs.statements import Declare, JobStart, JobWait
from tilewright.lower.tiles.tile_operands import TiledStep, unsupported_tile

WINDOWS = Name("windows")  # C variable: what a job reads and writes, where that is named twice
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
    name = tiling.book.allocated.tiled.scheduled.bound.bindings[tiling.step.name].engine
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


@dataclass(frozen=True, slots=True, kw_only=True)
class JobWindows:
    """What a job reads and writes: an array in C, and how many there are in it."""

    array: Expression
    count: int

    @property
    def arguments(self) -> tuple[Expression, Expression]:
        """As functions of the runtime take them."""
        return self.array, Number(self.count, unsigned=True)


def job_windows(kernel: Kernel, operands: Mapping[str, Operand], written: Sequence[str]) -> JobWindows:
    """The windows of a job. `written` are names of operands; scratch is, too. What the cores finish is theirs."""
    theirs = written if kernel.finish else ()
    windows = [
        _window(operand, operand.name in ("scratch", *written))
        for operand in operands.values()
        if operand.pointer != "NULL" and 0 not in operand.shape and operand.name not in theirs
    ]
    return JobWindows(array=Struct("const tw_rt_window[]", tuple(windows)), count=len(windows))


def declared_windows(kernel: Kernel, windows: JobWindows) -> tuple[JobWindows, Declare, JobStart, JobStart]:
    """The same windows in a variable, its declaration, and what stands before and behind the call of a kernel whose
    engine finds operands by commands: that it names these bytes and no others.
    """
    array = windows.array
    named = JobWindows(array=WINDOWS, count=windows.count)
    members = Struct("", array.values) if isinstance(array, Struct) else array
    declared = Declare(type="const tw_rt_window", name=WINDOWS.text, value=members, count=windows.count)
    before, behind = (
        JobStart(
            kernel=kernel.name,
            code=FunctionCall("tw_rt_engine_names", (_quoted(kernel), WINDOWS, Number(count, unsigned=True))),
        )
        for count in (windows.count, 0)
    )
    return named, declared, before, behind


def job_start(engine: NumberedEngine, kernel: Kernel, windows: JobWindows, cycles: Sequence[Expression]) -> JobStart:
    """What stands behind the call that starts a job."""
    arguments = (Number(engine.number, unsigned=True), _quoted(kernel), *cycles, *windows.arguments)
    return JobStart(kernel=kernel.name, code=FunctionCall("tw_rt_engine_start", arguments))


def _quoted(kernel: Kernel) -> Expression:
    return Verbatim(f'"{kernel.name}"', frozenset())


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
