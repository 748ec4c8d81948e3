"""Knows the program as a tree: steps, their parts, the memories and tensors at its border; and what a code pass is.
Does not know how it was lowered from a plan, nor how it is printed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from tilewright.ir.code_fragments import CodeFragment
from tilewright.ir.graphs.graph import Tensor
from tilewright.ir.plans.operand_banks import bank_faults
from tilewright.ir.plans.stages import CONSTANTS_HEADER_BYTES, Allocated, Buffer
from tilewright.ir.programs.expressions import Expression, Field, Name, Number, Reference
from tilewright.ir.programs.pending_jobs import StepText, job_fault
from tilewright.ir.programs.statements import (
    Barrier,
    ByteRange,
    CopyWait,
    JobWait,
    KernelWait,
    Role,
    Statement,
    StepCall,
    statements_in,
    touched,
)

NOWHERE = Number(0)  # offset of what is in no pool


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A parameter of a step function: the base of a memory, or a tensor of the caller's. Of a part: anything."""

    type: str  # with its `*`
    name: str
    given: Expression | None = None  # what `run` passes; None: its variable of that name

    @property
    def variable(self) -> Name:
        """The parameter, in the function that has it."""
        return Name(self.name)


def _of_context(kind: str, name: str, *, array: bool) -> Parameter:
    member = Field(Name("ctx"), name, arrow=True)
    return Parameter(type=f"{kind} *", name=name, given=member if array else Reference(member))


PROGRESS = _of_context("tw_progress", "progress", array=False)  # of a step that waits for rows: where it goes on
ARRIVALS = _of_context("tw_arrival", "arrivals", array=True)  # by input that arrives in rows: those that are there
DEPARTURES = _of_context("tw_departure", "departures", array=True)  # by output that is taken in rows: room for them


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A function that only one step uses. `result` is its value, over what `body` declares."""

    role: Role
    function: str
    comment: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    body: tuple[Statement, ...]
    type: str = "void"
    result: Expression | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StepCode:
    """One step of the schedule as a C function."""

    step: str  # name in the schedule
    function: str  # C identifier
    comment: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    body: tuple[Statement, ...]
    declarations: tuple[str, ...] = ()  # C at file scope, before the parts
    parts: tuple[Part, ...] = ()  # in the order in which they are defined
    waits: tuple[tuple[str, int], ...] = ()  # what it waits for, and how often in its text: no pass may drop any

    @property
    def statements(self) -> Iterator[Statement]:
        """Every statement of the parts and of the step itself."""
        for part in self.parts:
            yield from statements_in(part.body)
        yield from statements_in(self.body)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramPool:
    """A memory that the program uses, as its C sees it. `base` is the local variable that holds its address.

    Where the application manages a memory, each buffer in it is a pool of its own: `buffer`.
    """

    memory: str
    base: str  # C identifier, also the member in `pools` or `constants`
    size_bytes: int
    align: int
    section: str = ""  # "" takes the default
    buffer: str = ""
    copies: tuple[str, ...] = ()  # buffers with copies of constants: a pool that keeps its bytes from run to run

    @property
    def holds(self) -> tuple[str, ...]:
        """The only buffers that it has; () in the pool of a memory, which has all others."""
        return (self.buffer,) if self.buffer else self.copies


@dataclass(frozen=True, slots=True, kw_only=True)
class PortRows:
    """Rows in which an input or output passes, one after the other, as the application has them. Of the tensor as it is
    stored whole, each is `blocks` pieces of `piece_bytes`, a block apart. They pass in the function of `step`.
    """

    count: int
    blocks: int
    piece_bytes: int
    step: int

    @property
    def size_bytes(self) -> int:
        """Of one row."""
        return self.blocks * self.piece_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Port:
    """A graph input or output. `pool` "" means that the tensor stays in the caller's memory."""

    value: str
    member: str  # C identifier, unique among the inputs or among the outputs
    tensor: Tensor
    align: int
    pool: str = ""  # base of the pool it lives in
    offset_bytes: int = 0
    offset: Expression = NOWHERE  # the same, by name
    copied_from: str = ""  # outputs only: the expression to copy from where nothing writes the caller's tensor itself
    private: bool = True  # no other graph input or output shares its bytes
    rows: PortRows | None = None  # where it passes in rows, and is nowhere whole


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelLicence:
    """A kernel that came from another package, and its SPDX identifier."""

    kernel: str
    licence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NamesInFull:
    """Names of the model, safe in a comment, and what comments say instead of them."""

    of: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StateInitialiser:
    """Bytes of the state that `NAME_reset_state` copies from a constant; all others become zero."""

    offset: Expression  # in the state, in bytes
    size_bytes: int
    pool: str  # base of the pool of constants
    source: Expression  # in that pool, in bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """Everything that is printed. Code passes return a changed one; the plan it came from never changes."""

    allocated: Allocated
    prefix: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    offsets: Mapping[str, str]  # buffer in a memory -> enumerator: the byte where it begins
    pools: tuple[ProgramPool, ...]  # RAM
    constants: tuple[ProgramPool, ...]
    state_bytes: int
    state_initialisers: tuple[StateInitialiser, ...] = ()  # of the state
    initial: tuple[Statement, ...] = ()  # of the init function: constants that are copied once
    includes: tuple[str, ...]  # "<stdint.h>"
    sources: tuple[CodeFragment, ...]  # C at file scope, each once, in the order of first use
    steps: tuple[StepCode, ...]
    body: tuple[Statement, ...]  # of the run function
    before_inputs: tuple[Statement, ...] = ()  # the same, before inputs are copied into the plan
    after_outputs: tuple[Statement, ...] = ()  # and after outputs are copied out of it
    licences: tuple[KernelLicence, ...] = ()
    names: tuple[NamesInFull, ...] = ()  # those that comments shorten or leave out
    team: bool = False  # several cores or memories: every core calls the run function, `tw_rt.h` is needed
    passes: tuple[str, ...] = field(default=())  # code passes applied, in order

    @property
    def waiting(self) -> tuple[int, ...]:
        """The steps that wait for rows of an input, or until those of an output are taken."""
        return tuple(at for at, step in enumerate(self.steps) if PROGRESS in step.parameters)

    @property
    def uses_float(self) -> bool:
        """Whether any tensor of the network is a float."""
        return any(tensor.dtype.is_float for tensor in self.graph_tensors.values())

    @property
    def graph_tensors(self) -> Mapping[str, Tensor]:
        """The tensors of the graph that was compiled."""
        return self.allocated.tiled.scheduled.bound.graph.tensors

    def address(self, buffer: str) -> Expression:
        """A buffer's first byte in the run function. KeyError for one in the caller's memory."""
        place = self.allocated.placements[buffer]
        kinds = {placed.name: placed.kind for placed in self.allocated.tiled.buffers}
        bases = {pool.memory: pool.base for pool in (*self.pools, *self.constants) if not pool.holds}
        alone = {name: pool.base for pool in self.pools for name in pool.holds}
        base = "state" if kinds[buffer] == "state" else alone.get(buffer) or bases[place.memory]
        return Name(base) + Name(self.offsets[buffer]) if buffer in self.offsets else Name(base)

    def verify(self) -> Program:
        """Return self, or raise ValueError naming the first statement that the memory map does not allow, the first
        wait or barrier of a step that is not there any more, what touches a job's bytes before that was waited for, or
        an operand that is not in the bank of a memory in which its kernel wants it.
        """
        names = [step.function for step in self.steps]
        if len(set(names)) != len(names):
            raise ValueError("two steps have the same function")
        called = [statement.step for statement in statements_in(self.body) if isinstance(statement, StepCall)]
        if called != list(range(len(self.steps))):
            raise ValueError("the run function does not call every step once, in order")
        plan = self.allocated
        buffers = {buffer.name: buffer for buffer in plan.tiled.buffers}
        order = {step.name: index for index, step in enumerate(plan.tiled.scheduled.steps)}
        for step in self.steps:
            _check_waits(step)
            for region, written in touched(step.statements):
                _check_region(region, written, step.step, order[step.step], buffers, plan)
        if fault := job_fault(self._texts()) or next(bank_faults(plan), ""):
            raise ValueError(fault)
        _check_pools(self, buffers)
        return self

    def _texts(self) -> Iterator[StepText]:
        scheduled = self.allocated.tiled.scheduled
        nodes = {node.name: node for node in scheduled.bound.graph.nodes}
        for step in self.steps:
            places = {value: scheduled.storage.get(value) for value in nodes[step.step].outputs}
            yield StepText(
                name=step.step,
                body=step.body,
                parts={part.function: part.body for part in step.parts},
                outputs=tuple(
                    ByteRange(
                        buffer=place.buffer,
                        offset_bytes=place.offset_bytes,
                        size_bytes=self.graph_tensors[value].size_bytes,
                    )
                    for value, place in places.items()
                    if place is not None
                ),
            )


def waits_in(step: StepCode) -> tuple[tuple[str, int], ...]:
    """The waits and barriers in the text of a step, and how many there are of each."""
    return tuple(sorted(Counter(filter(None, map(_waited_for, step.statements))).items()))


def _waited_for(statement: Statement) -> str:
    match statement:
        case KernelWait(kernel=kernel):
            return _job_of(kernel)
        case JobWait(kernel=kernel):
            return f"bytes of a job of kernel {kernel!r}"
        case CopyWait(transfer=transfer):
            return f"copies of {transfer!r}"
        case Barrier():
            return "the other cores"
    return ""


def _job_of(kernel: str) -> str:
    return f"a job of kernel {kernel!r}"


def _check_waits(step: StepCode) -> None:
    there = dict(waits_in(step))
    for what, count in step.waits:
        if there.get(what, 0) < count:
            raise ValueError(f"step {step.step!r} waits for {what} {there.get(what, 0)} times, not {count}")


def _check_region(
    region: ByteRange, written: bool, step: str, index: int, buffers: Mapping[str, Buffer], plan: Allocated
) -> None:
    if region.buffer not in buffers:
        raise ValueError(f"step {step!r} uses buffer {region.buffer!r}, which is not in the plan")
    buffer = buffers[region.buffer]
    if region.offset_bytes < 0 or region.offset_bytes + region.size_bytes > buffer.size_bytes:
        raise ValueError(f"step {step!r} leaves buffer {buffer.name!r}")
    if not buffer.first <= index <= buffer.last:
        raise ValueError(f"step {step!r} uses buffer {buffer.name!r}, which is not alive then")
    if written and buffer.kind == "constant":
        raise ValueError(f"step {step!r} writes constant {buffer.name!r}")
    if written and buffer.kind == "input" and buffer.name not in plan.placements:
        raise ValueError(f"step {step!r} writes input {buffer.name!r}, which is in the caller's memory")


def _check_pools(program: Program, buffers: Mapping[str, Buffer]) -> None:
    sizes = {pool.memory: pool.size_bytes for pool in (*program.pools, *program.constants) if not pool.holds}
    alone = {name: pool.size_bytes for pool in program.pools for name in pool.holds}
    constant = {pool.memory for pool in program.constants}
    for name, placement in program.allocated.placements.items():
        end = placement.offset_bytes + buffers[name].size_bytes
        limit = (
            program.state_bytes if buffers[name].kind == "state" else alone.get(name, sizes.get(placement.memory, 0))
        )
        if end > limit:
            raise ValueError(f"buffer {name!r} ends at byte {end} of {placement.memory!r}, which has {limit}")
        header = CONSTANTS_HEADER_BYTES if placement.memory in constant and buffers[name].size_bytes else 0
        if placement.offset_bytes < header:
            raise ValueError(f"constant {name!r} is placed in the header of {placement.memory!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class CodePassContext:
    """What a pass may look at beside the program: the user's settings for it, `NAME.KEY=VALUE` without `NAME.`."""

    settings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class CodePass:
    """A named change of the C tree. `apply` is pure and may neither move a buffer nor need more memory."""

    name: str
    summary: str
    apply: Callable[[Program, CodePassContext], Program]
    after: tuple[str, ...] = ()  # passes that must have run before this one, where they run at all
    before: tuple[str, ...] = ()
    default: bool = False  # runs without being asked for
    settings: tuple[str, ...] | None = None  # names of those it takes; None: it checks them itself
