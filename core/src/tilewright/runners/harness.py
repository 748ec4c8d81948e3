"""Knows the program around a generated network: its `main`, the files it reads and writes, and how they are decoded.
Does not know how it is compiled or executed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from tilewright.c_text.templates import template
from tilewright.errors import toolchain_error, usage_error
from tilewright.ir.graphs.graph import Tensor
from tilewright.ir.programs.program import Port
from tilewright.ir.programs.runner import Job
from tilewright.ir.tensors.layout import Layout, row_major
from tilewright.runners.areas import STATE, Area, areas_of
from tilewright.runners.traced_lines import (
    FLAG,
    HEADER,
    HEADER_NAME,
    TracedRows,
    decode_rows,
    run_by_rows,
    see_rows,
    traced_rows,
)
from tilewright.runners.write_guard import RUNNING, guard_text, writable

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from tilewright.lower.operands.addresses import AddressBook

    Array = npt.NDArray[np.generic]


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A value that a step writes: where it is when the step has ended."""

    step: int
    value: str
    area: int
    offset_bytes: int
    size_bytes: int
    layout: Layout


@dataclass(frozen=True, slots=True, kw_only=True)
class Blob:
    """Constants that are not linked in: loaded from a file."""

    base: str
    file: str
    size_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Harness:
    """The text of `main`, the bytes of inputs.bin, and what is needed to read the answers."""

    main: str
    inputs: bytes
    areas: tuple[Area, ...]
    outputs: tuple[Port, ...]
    records: tuple[Record, ...]
    traced: tuple[TracedRows, ...]
    sets: int
    untraced: int
    tensors: Mapping[str, Tensor]

    @property
    def headers(self) -> Mapping[str, str]:
        """Files that the network's sources include, because of `flags`."""
        return {HEADER_NAME: HEADER} if self.traced else {}

    @property
    def flags(self) -> tuple[str, ...]:
        """What the compiler of all sources is given, beside its own flags."""
        return (FLAG,) if self.traced else ()


def make_harness(job: Job, text: str = "", **names: object) -> Harness:
    """Everything around the network for one job. TilewrightError TW6020 (exit 2) when inputs do not fit the graph.

    `text` is the Mako template of another `main` than the host's; it sees `names` beside what the host's sees, and
    `constants`, the pools of constants.
    """
    from tilewright.lower.operands.addresses import address_book, members_of, ports_of

    graph = job.plan.tiled.scheduled.bound.graph
    members = members_of(graph, job.prefix)
    book = address_book(job.plan, members)
    inputs, outputs = (ports_of(job.plan, book, members, struct) for struct in ("inputs", "outputs"))
    areas = areas_of(job, book, inputs, outputs)
    records = _records(book, areas, members) if job.trace else ()
    traced = traced_rows(job.plan) if job.trace else ()
    main = template(text or _text()).render(
        p=job.prefix,
        records=records,
        traced=traced,
        see_rows=see_rows(traced, job.untraced),
        sets=len(job.input_sets),
        untraced=job.untraced,
        running=RUNNING,
        by_rows=run_by_rows(job, inputs, outputs),
        guard=guard_text(writable(book, _numbers(areas), members), areas) if job.trace else "",
        **_memory_names(job, book, areas),
        **names,
    )
    content = b"".join(_encoded(port, arrays) for arrays in job.input_sets for port in inputs)
    return Harness(
        main=str(main),
        inputs=content,
        areas=areas,
        outputs=outputs,
        records=records,
        traced=traced,
        sets=len(job.input_sets),
        untraced=job.untraced,
        tensors=graph.tensors,
    )


def _memory_names(job: Job, book: AddressBook, areas: Sequence[Area]) -> dict[str, object]:
    """What `main` gives the network: memory to work in, constants, and what it keeps from one run to the next."""
    state = next((index for index, area in enumerate(areas) if area.role == "state"), None)
    return {
        "areas": areas,
        "near": job.plan.tiled.scheduled.bound.platform.inner,
        "align": max([64, *(pool.align for pool in (*book.pools, *book.constants))]),
        "blobs": _blobs(job, book),
        "constants": book.constants,
        "stream": any(area.lasting for area in areas),
        "state": "NULL" if state is None else f"areas[{state}].base",
    }


def _numbers(areas: Sequence[Area]) -> dict[str, int]:
    """Where an area stands in the table of `main`, by what the network calls it."""
    return {area.assign or area.role: index for index, area in enumerate(areas)}


def decode_outputs(harness: Harness, content: bytes) -> tuple[Mapping[str, Array], ...]:
    """What outputs.bin says: for each set of inputs, graph output -> row-major array."""
    shapes = [(port.value, port.tensor, row_major(len(port.tensor.shape))) for port in harness.outputs]
    return _decoded(shapes, content, harness.sets)


def decode_trace(harness: Harness, content: bytes, rows: bytes = b"") -> tuple[Mapping[str, Array], ...]:
    """What trace.bin says: for each set of inputs, every value that a step wrote -> row-major array; and what rows.bin
    says of values that are nowhere whole, masked where they were not computed. Of sets that are not traced, nothing.
    """
    sets = harness.sets - harness.untraced
    shapes = [(record.value, harness.tensors[record.value], record.layout) for record in harness.records]
    whole = _decoded(shapes, content, sets)
    seen = decode_rows(harness.traced, rows, sets)
    traced = ({**values, **parts} for values, parts in zip(whole, seen, strict=True))
    return (*({},) * harness.untraced, *traced)


def _decoded(
    shapes: Sequence[tuple[str, Tensor, Layout]], content: bytes, sets: int
) -> tuple[Mapping[str, Array], ...]:
    import numpy as np

    wanted = sets * sum(tensor.size_bytes for _, tensor, _ in shapes)
    if len(content) != wanted:
        raise toolchain_error(
            "TW7003",
            f"the generated program wrote {len(content)} bytes where {wanted} were expected",
            fix=("tracing needs the code pass 'hooks', and a build without TW_NO_HOOKS",),
        )
    decoded: list[Mapping[str, Array]] = []
    start = 0
    for _ in range(sets):
        values: dict[str, Array] = {}
        for name, tensor, layout in shapes:
            stored = np.frombuffer(content, tensor.dtype.numpy, tensor.elements, start)
            start += tensor.size_bytes
            ordered = stored.reshape([tensor.shape[axis] for axis in layout])
            values[name] = ordered.transpose(np.argsort(layout)) if layout else ordered
        decoded.append(values)
    return tuple(decoded)


def _records(book: AddressBook, areas: Sequence[Area], members: Mapping[str, str]) -> tuple[Record, ...]:
    tiled = book.allocated.tiled
    scheduled = tiled.scheduled
    graph, inner = scheduled.bound.graph, {value for group in tiled.groups for value in group.region.unmaterialised}
    nodes = {node.name: node for node in graph.nodes}
    io, storage = book.allocated.decisions.io, scheduled.storage
    taken = {storage[value].buffer for value, whose in io.items() if whose == "pull"}  # nowhere whole
    inner |= {value for value, kept in storage.items() if kept.buffer in taken}
    index_of = _numbers(areas)
    records, completed = [], tiled.completed
    for step in scheduled.steps:
        for value in (value for value in nodes[step.nodes[-1]].outputs if value and value not in inner):
            place = book.of_value(value)
            owner = book.owners.get(storage[value].buffer)
            key = f"outputs.{members[f'outputs.{owner}']}" if owner else f"pools.{place.parameter.name}"
            key = STATE if place.parameter.name == STATE else key
            records.append(
                Record(
                    step=completed[step.name],
                    value=value,
                    area=index_of[key],
                    offset_bytes=place.offset_bytes,
                    size_bytes=graph.tensors[value].size_bytes,
                    layout=scheduled.bound.layouts[value],
                )
            )
    return tuple(sorted(records, key=lambda record: record.step))


def _blobs(job: Job, book: AddressBook) -> tuple[Blob, ...]:
    if any(f"{job.prefix}_weights{end}" in job.artifact.files for end in (".c", ".S")):
        return ()  # linked in; `_weights.bin` may be the blob of a pool of that name
    return tuple(
        Blob(base=pool.base, file=f"{job.prefix}_{pool.base}.bin", size_bytes=pool.size_bytes)
        for pool in book.constants
    )


def _encoded(port: Port, arrays: Mapping[str, Array]) -> bytes:
    import numpy as np

    tensor = port.tensor
    if port.value not in arrays:
        raise usage_error(
            "TW6020", f"input '{port.value}' is missing", details=(f"given: {', '.join(sorted(arrays))}",)
        )
    array = np.asarray(arrays[port.value], order="C")
    if array.dtype != tensor.dtype.numpy or array.shape != tensor.shape:
        raise usage_error(
            "TW6020",
            f"input '{port.value}' does not fit: it is {array.dtype}{list(array.shape)}",
            details=(f"the graph wants {tensor.dtype.numpy}{list(tensor.shape)}",),
        )
    return array.tobytes()


@cache
def _text() -> str:
    return (files("tilewright.runners") / "text" / "harness.mako").read_text(encoding="utf-8")
