"""Knows the expression for every byte of the plan: which variable it is reached from, and how far.
Does not know kernels or steps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from tilewright.c_text.identifiers import comment_text, unique_identifiers
from tilewright.errors import memory_error, typed
from tilewright.ir.graphs.graph import Graph
from tilewright.ir.plans.stages import CONSTANTS_HEADER_BYTES, Allocated, Buffer, Scheduled
from tilewright.ir.programs.expressions import Cast, Expression, Field, Name, Number
from tilewright.ir.programs.program import Parameter, Port, ProgramPool

# names the run function has already
RUN_LOCALS = (
    "ctx",
    "inputs",
    "outputs",
    "state",
    "hooks",
    "status",
    "step",
    "rows",
    "count",
    "progress",
    "arrivals",
    "departures",
)
EXTERNAL_NAMES = (
    *("init", "run", "begin", "reset_state", "map_inputs", "map_outputs"),
    *("ctx", "pools", "constants", "inputs", "outputs", "mapped_inputs"),
)
NO_NAMES: Mapping[str, str] = MappingProxyType({})
STATE = Parameter(type="uint8_t *", name="state")


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Bytes reached from a parameter of the step function."""

    parameter: Parameter
    where: str  # for comments: memory, or "caller"
    offset_bytes: int
    offset: Expression  # the same, by name

    @property
    def address(self) -> Expression:
        """In a function that has the parameter."""
        return self.parameter.variable + self.offset

    @property
    def outside(self) -> Expression:
        """In the run function."""
        return (self.parameter.given or self.parameter.variable) + self.offset


@dataclass(frozen=True, slots=True, kw_only=True)
class AddressBook:
    """Where everything is. `owners`: buffer in the caller's memory -> graph input or output that is that memory."""

    allocated: Allocated
    pools: tuple[ProgramPool, ...]
    constants: tuple[ProgramPool, ...]
    buffers: Mapping[str, Buffer]
    memories: Mapping[str, Parameter]  # by memory
    alone: Mapping[str, ProgramPool]  # by buffer in no memory's pool: placed by the application, or a lasting copy
    callers: Mapping[str, Parameter]  # by buffer in the caller's memory
    owners: Mapping[str, str]
    offsets: Mapping[str, str]  # by buffer in a memory: the name of the byte where it begins
    bases: tuple[Parameter, ...]  # everything that a step may be given
    short: Mapping[str, str]  # by name of the model: what comments call it

    def shown(self, name: str) -> str:
        """What comments call a node, value or constant."""
        return self.short.get(name) or comment_text(name)

    def of_buffer(self, name: str, offset_bytes: int = 0) -> Address:
        """The place `offset_bytes` into a buffer."""
        placement = self.allocated.placements.get(name)
        if placement is None:
            start = Number(offset_bytes)
            return Address(parameter=self.callers[name], where="caller", offset_bytes=offset_bytes, offset=start)
        base = STATE if self.buffers[name].kind == "state" else self.memories.get(placement.memory)
        if name in self.alone:
            base = _parameter(self.alone[name])
        if base is None:
            raise KeyError(name)
        return Address(
            parameter=base,
            where=placement.memory,
            offset_bytes=placement.offset_bytes + offset_bytes,
            offset=Name(self.offsets[name]) + offset_bytes if name in self.offsets else Number(offset_bytes),
        )

    def of_value(self, name: str) -> Address:
        """The place of a tensor's first element."""
        storage = self.allocated.tiled.scheduled.storage[name]
        return self.of_buffer(storage.buffer, storage.offset_bytes)

    def pool_of(self, buffer: str) -> ProgramPool | None:
        """The RAM pool that a buffer is placed in; None in the caller's memory."""
        placement = self.allocated.placements.get(buffer)
        if placement is None or buffer in self.alone:
            return self.alone.get(buffer)
        return {pool.memory: pool for pool in self.pools if not pool.holds}[placement.memory]


def members_of(graph: Graph, prefix: str) -> dict[str, str]:
    """`inputs.VALUE` and `outputs.VALUE` -> member of the struct; parameters of the simple API have the same names."""
    taken = {prefix, *(f"{prefix}_{name}" for name in EXTERNAL_NAMES)}
    inputs = unique_identifiers(graph.inputs, taken=taken)
    outputs = unique_identifiers(graph.outputs, taken=(*taken, *inputs.values()))
    return {
        **{f"inputs.{value}": name for value, name in inputs.items()},
        **{f"outputs.{value}": name for value, name in outputs.items()},
    }


def address_book(
    allocated: Allocated,
    members: Mapping[str, str],
    offsets: Mapping[str, str] = NO_NAMES,
    short: Mapping[str, str] = NO_NAMES,
) -> AddressBook:
    """Name every base. `members` is what `members_of` returns; for who writes C, `offsets` is what `offset_names` does
    and `short` what `shown_names` does.
    """
    buffers = {buffer.name: buffer for buffer in allocated.tiled.buffers}
    pools, constants = _pools(allocated, buffers)
    alone = {name: pool for pool in pools for name in pool.holds}
    memories = {pool.memory: _parameter(pool) for pool in pools if not pool.holds}
    memories |= {pool.memory: Parameter(type="const uint8_t *", name=pool.base) for pool in constants}
    owners = _owners(allocated, buffers)
    bases = [*memories.values(), *dict.fromkeys(map(_parameter, alone.values()))]
    graph = allocated.tiled.scheduled.bound.graph
    callers = _callers(owners, graph, members, [*(parameter.name for parameter in bases), *offsets.values()])
    state = [STATE] if any(buffer.kind == "state" for buffer in buffers.values()) else []
    return AddressBook(
        allocated=allocated,
        pools=pools,
        constants=constants,
        buffers=buffers,
        memories=memories,
        alone=alone,
        callers=callers,
        owners=owners,
        offsets=offsets,
        bases=(*bases, *callers.values(), *state),
        short=short,
    )


def _parameter(pool: ProgramPool) -> Parameter:
    return Parameter(type="uint8_t *", name=pool.base)


def _callers(
    owners: Mapping[str, str], graph: Graph, members: Mapping[str, str], taken: Sequence[str]
) -> dict[str, Parameter]:
    """By buffer: the parameter that carries the caller's tensor into a step."""
    structs = {value: "inputs" if value in graph.inputs else "outputs" for value in owners.values()}
    fields = {value: members[f"{struct}.{value}"] for value, struct in structs.items()}
    names = unique_identifiers(fields.values(), taken=(*taken, *RUN_LOCALS))
    parameters = {}
    for buffer, value in owners.items():
        kind = "const uint8_t *" if value in graph.inputs else "uint8_t *"
        pointer = Cast(kind, Field(Name(structs[value]), fields[value], arrow=True))
        parameters[buffer] = Parameter(type=kind, name=names[fields[value]], given=pointer)
    return parameters


def _pools(
    allocated: Allocated, buffers: Mapping[str, Buffer]
) -> tuple[tuple[ProgramPool, ...], tuple[ProgramPool, ...]]:
    platform = allocated.tiled.scheduled.bound.platform
    lasting = ("state", "resident")
    used = {place.memory for name, place in allocated.placements.items() if buffers[name].kind not in lasting}
    sizes = {use.memory: use.used_bytes for use in allocated.pools if use.kind not in lasting}
    copies = {use.memory: use.used_bytes for use in allocated.pools if use.kind == "resident"}
    present = [memory for memory in platform.memories if memory.name in used]
    managed = {memory.name for memory in platform.of_kind("ram") if memory.managed_by == "application"}
    alone = [name for name, at in allocated.placements.items() if at.memory in managed]
    named = (*(memory.name for memory in present), *alone, *map(copies_base, copies))
    bases = unique_identifiers(named, taken=RUN_LOCALS, fallback="m")
    made = {
        memory.name: ProgramPool(
            memory=memory.name,
            base=bases[memory.name],
            size_bytes=sizes[memory.name] or (CONSTANTS_HEADER_BYTES if memory.kind == "const" else 0),
            align=memory.align,
            section=memory.section,
        )
        for memory in present
        if memory.name not in managed
    }
    resident = [name for name in allocated.placements if buffers[name].kind == "resident"]
    own = (_own_pool(buffers[name], bases[name], allocated) for name in alone)
    kept = (
        ProgramPool(
            memory=name,
            base=bases[copies_base(name)],
            size_bytes=size,
            align=platform.memory(name).align,
            section=platform.memory(name).section,
            copies=tuple(buffer_name for buffer_name in resident if allocated.placements[buffer_name].memory == name),
        )
        for name, size in copies.items()
    )
    ram = (made[memory.name] for memory in present if memory.kind == "ram" and memory.name in made)
    return (*ram, *own, *kept), tuple(made[memory.name] for memory in present if memory.kind == "const")


def copies_base(memory: str) -> str:
    """What the pool of the lasting copies in a memory is called, where nothing else is called so."""
    return f"{memory}_copies"


def _own_pool(buffer: Buffer, base: str, allocated: Allocated) -> ProgramPool:
    """A buffer that the application places: a pool of its own."""
    memory = allocated.placements[buffer.name].memory
    return ProgramPool(memory=memory, base=base, size_bytes=buffer.size_bytes, align=buffer.align, buffer=buffer.name)


def _owners(allocated: Allocated, buffers: Mapping[str, Buffer]) -> dict[str, str]:
    scheduled = allocated.tiled.scheduled
    graph = scheduled.bound.graph
    owners: dict[str, str] = {}
    for buffer in buffers.values():
        if buffer.name in allocated.placements:
            continue
        ports = graph.inputs if buffer.kind == "input" else graph.outputs
        whole = [value for value in ports if _fills(value, buffer, scheduled, graph)]
        if not whole:
            raise memory_error(
                "TW5020",
                "a tensor cannot stay in the caller's memory: it shares its bytes with larger values",
                where=f"buffer '{buffer.name}'",
                fix=(typed("--io", "pool", gives="keeps graph inputs and outputs in the plan"),),
            )
        owners[buffer.name] = whole[0]
    return owners


def _fills(value: str, buffer: Buffer, scheduled: Scheduled, graph: Graph) -> bool:
    storage = scheduled.storage.get(value)
    return (
        storage is not None
        and storage.buffer == buffer.name
        and storage.offset_bytes == 0
        and graph.tensors[value].size_bytes == buffer.size_bytes
    )


def ports_of(allocated: Allocated, book: AddressBook, members: Mapping[str, str], struct: str) -> tuple[Port, ...]:
    """The graph's inputs or outputs (`struct` "inputs" or "outputs") as C sees them."""
    scheduled = allocated.tiled.scheduled
    graph = scheduled.bound.graph
    ranges = {value: _range(value, book, graph) for value in (*graph.inputs, *graph.outputs)}
    ports = []
    states = allocated.decisions.state
    kept = {*states} if struct == "inputs" else {*states.values()}
    for value in graph.inputs if struct == "inputs" else graph.outputs:
        if value in kept:
            continue
        tensor, buffer = graph.tensors[value], scheduled.storage[value].buffer
        pool, place = book.pool_of(buffer), book.of_value(value)
        mine = struct == "inputs" or book.owners.get(buffer) == value
        elsewhere = pool is None and not (mine and value not in graph.inputs) and struct == "outputs"
        ports.append(
            Port(
                value=value,
                member=members[f"{struct}.{value}"],
                tensor=tensor,
                align=tensor.dtype.size_bytes if pool else book.buffers[buffer].align,
                pool=pool.base if pool else "",
                offset_bytes=place.offset_bytes,
                offset=place.offset,
                copied_from=str(place.outside) if elsewhere else "",
                private=not any(_overlap(ranges[value], other) for name, other in ranges.items() if name != value),
            )
        )
    return tuple(ports)


def _range(value: str, book: AddressBook, graph: Graph) -> tuple[str, int, int]:
    place = book.of_value(value)
    return place.parameter.name, place.offset_bytes, place.offset_bytes + graph.tensors[value].size_bytes


def _overlap(first: tuple[str, int, int], second: tuple[str, int, int]) -> bool:
    return first[0] == second[0] and first[1] < second[2] and second[1] < first[2]
