"""Knows the values that the back end's stages pass on: Bound, Scheduled, Tiled, Allocated, Program, Artifact.
Does not know how any of them is made. Each refers to the one before it and can verify itself.

    Graph -> Bound -> Scheduled -> Tiled -> Allocated -> Program -> Artifact
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Literal

from tilewright.errors import Diagnostic, Refusal
from tilewright.ir.codec import DERIVED
from tilewright.ir.graphs.graph import Graph, Node
from tilewright.ir.machines.board import Board
from tilewright.ir.machines.kernel import Kernel, Matched
from tilewright.ir.machines.platform import Platform
from tilewright.ir.machines.routes import crossed
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.layer import Layer
from tilewright.ir.plans.region import LineBuffers, Region
from tilewright.ir.tensors.layout import Layout

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

CONSTANTS_HEADER_BYTES = 16  # at the start of every const pool: plan id and length; nothing is placed there

BufferKind = Literal["input", "output", "activation", "scratch", "state", "constant", "tile", "staged", "resident"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A kernel that can compute a node, and what it is estimated to cost."""

    kernel: Kernel
    cycles: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """A node, the kernel that computes it, and everything that could have."""

    node: str
    kernel: Kernel
    engine: str
    candidates: tuple[Candidate, ...]
    refusals: tuple[Refusal, ...]
    constants: Mapping[str, str]  # operand -> name in Bound.constants


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """Every node has a kernel, every value a layout, every constant its stored form."""

    graph: Graph  # may hold relayout nodes that the rewritten graph did not
    platform: Platform
    bindings: Mapping[str, Binding]  # by node
    layouts: Mapping[str, Layout]  # by value
    constants: Mapping[str, Array] = field(compare=False)  # packed, as stored; equal arrays are stored once
    diagnostics: tuple[Diagnostic, ...] = ()
    layers: Mapping[str, Layer] = field(  # by node, as its kernel computes it; worked out again where it is read back
        default_factory=dict, compare=False, repr=False, metadata=DERIVED
    )

    def site(self, node: Node) -> Matched:
        """`node` with its tensors and its kernel's analysis."""
        return self.layers[node.name].at(self.graph.site(node))


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One entry of the schedule. `nodes` is one node, or a pattern that one kernel computes."""

    name: str  # the last node's
    nodes: tuple[str, ...]
    copies: bool = True  # False: the step's outputs are aliases and nothing is executed


@dataclass(frozen=True, slots=True, kw_only=True)
class Storage:
    """Where a value lives: inside a buffer, `offset_bytes` from its start, dense in the value's layout."""

    buffer: str
    offset_bytes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Buffer:
    """Bytes that need a place. Alive from step `first` to step `last`, both included."""

    name: str
    kind: BufferKind
    size_bytes: int
    align: int
    first: int
    last: int
    memories: tuple[str, ...] = ()  # candidates, best first, filled in by `tile`; none: the caller's own memory
    values: tuple[str, ...] = ()  # tensors that live in it


@dataclass(frozen=True, slots=True, kw_only=True)
class Scheduled:
    """Steps in order; every value has a buffer; views and in-place pairs share one."""

    bound: Bound
    steps: tuple[Step, ...]  # only those that execute something
    storage: Mapping[str, Storage]  # by value, constants excluded
    buffers: tuple[Buffer, ...]
    in_place: Mapping[str, str]  # output value -> input value it overwrites
    deferred: Mapping[str, str] = field(default_factory=dict)  # step -> later one behind which its engine is waited for

    @property
    def views(self) -> Mapping[str, str]:
        """By value that shows all bytes of another in another shape, that other one. Of views of views the first."""
        executed = {name for step in self.steps for name in step.nodes}
        result: dict[str, str] = {}
        for node in self.bound.graph.nodes:
            pairs = product(node.outputs, node.inputs) if node.name not in executed else ()
            result |= {shown: result.get(of, of) for shown, of in pairs if self._same_bytes(of, shown)}
        return result

    def with_views(self, values: Collection[str]) -> frozenset[str]:
        """These values, and those that show their bytes in another shape."""
        views = self.views if values else {}
        return frozenset((*values, *(shown for shown, of in views.items() if of in values)))

    def _same_bytes(self, left: str, right: str) -> bool:
        tensors = self.bound.graph.tensors
        if left not in self.storage or self.storage[left] != self.storage.get(right):
            return False
        types = (tensors[left].dtype.size_bytes, tensors[right].dtype.size_bytes)
        return types[0] == types[1] and tensors[left].elements == tensors[right].elements


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """What a tiler answers: steps that are tiled together, how, and what it says of them."""

    region: Region
    cycles: float = 0.0  # estimate, without what is hidden
    hidden_cycles: float = 0.0  # estimate: of an engine, beside later steps, see `Scheduled.deferred`
    offsets: Mapping[str, int] = field(default_factory=dict)  # buffer -> bytes from the pool's start, where it settles
    claim: str = ""  # what the tiler has proved of its choice: "optimal", how far from it at most; "" nothing

    @property
    def name(self) -> str:
        """The last step's."""
        return self.region.name

    @property
    def steps(self) -> tuple[str, ...]:
        """Its steps, in order."""
        return self.region.steps


@dataclass(frozen=True, slots=True, kw_only=True)
class Tiled:
    """Every buffer that will ever exist, with its final size and its candidate memories."""

    scheduled: Scheduled
    groups: tuple[Group, ...]
    buffers: tuple[Buffer, ...]  # Scheduled.buffers with candidates, and scratch, tiles, constants

    @property
    def regions(self) -> tuple[Region, ...]:
        """They cover every step once, in order."""
        return tuple(group.region for group in self.groups)

    @property
    def line_buffered(self) -> tuple[tuple[Region, LineBuffers], ...]:
        """The regions that are computed row by row, with their schedules."""
        return tuple((region, schedule) for region in self.regions if (schedule := region.line_buffers) is not None)

    @property
    def executed(self) -> Mapping[str, int]:
        """By step the number of the step in whose function it is computed: of a region with hops or rows the last."""
        numbers = {step.name: number for number, step in enumerate(self.scheduled.steps)}
        return {
            name: numbers[region.name if region.together else name] for region in self.regions for name in region.steps
        }

    @property
    def completed(self) -> Mapping[str, int]:
        """By step the number of the step in whose function its outputs are completed: its own, or a later one's."""
        executed = self.executed
        return {name: executed[self.scheduled.deferred.get(name, name)] for name in executed}


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """The place of a buffer."""

    memory: str
    offset_bytes: int


def comes_and_goes(buffer: Buffer, place: Placement, platform: Platform) -> bool:
    """Whether a buffer shares bytes over time with tiles, in a memory that copies bring some to; a tile buffer does."""
    over_time = "activation", "scratch", "input", "output"
    return buffer.kind == "tile" or (buffer.kind in over_time and place.memory in crossed(platform))


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolUse:
    """What the plan takes of one memory."""

    memory: str
    kind: Literal["ram", "const", "state", "resident"]  # the last two: what lasts from run to run, apart from the pool
    used_bytes: int
    limit_bytes: int | None  # what the runtime leaves of the memory, for all its uses together; None: no limit
    lower_bound_bytes: int
    optimal: bool  # proved: used equals the lower bound, or an exact search finished
    soft: bool = False  # the limit may be exceeded


@dataclass(frozen=True, slots=True, kw_only=True)
class BytesAway:
    """Bytes that are not in the first memory that they may be in, those times two that are in the third."""

    kind: Literal["ram", "const"]  # buffers, or constants
    used_bytes: int
    lower_bound_bytes: int  # of these buffers alive at these steps, wherever they are put


@dataclass(frozen=True, slots=True, kw_only=True)
class Allocated:
    """Every buffer has a memory and an offset, checked by `check`."""

    tiled: Tiled
    placements: Mapping[str, Placement]  # by buffer
    pools: tuple[PoolUse, ...]
    decisions: Decisions  # complete
    plan_id: int  # 32 bits: changes whenever anything that the constants blob depends on does
    away: tuple[BytesAway, ...] = ()  # where buffers or constants may be in several memories
    order_bound_bytes: int | None = None  # of all written memories together, in any order of the steps; None: unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorParameter:
    """One input or output, as the simple API declares it: `const float image[KWS_IN_IMAGE_ELEMENTS]`."""

    value: str  # of the graph
    name: str  # also the member of PREFIX_inputs or PREFIX_outputs
    type: str
    elements: str  # a macro
    is_input: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PackageFacts:
    """What a package around the generated files is called, and whose it is: the user's, never the generator's."""

    name: str = ""  # "": as the network
    version: str = "0.0.0"  # nobody said
    vendor: str = "unknown"
    licence: str = ""  # an SPDX expression; "": not said
    url: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact:
    """What is written: relative path -> bytes; and what each of these files is to a build system."""

    files: Mapping[str, bytes]
    prefix: str = ""
    target: str = ""
    sources: tuple[str, ...] = ()  # what the static library is built from, the self-test excluded
    headers: tuple[str, ...] = ()
    blobs: tuple[str, ...] = ()  # what a `.S` among the sources includes, or what the application loads
    libraries: tuple[str, ...] = ()  # prebuilt, of kernels; to link
    selftest: str = ""  # the source with a `main`
    maths: bool = False  # <math.h> is used
    parameters: tuple[TensorParameter, ...] = ()  # inputs in the order of the graph, then outputs; without state
    pools: tuple[str, ...] = ()  # members of PREFIX_pools
    simple: bool = True  # there is the simple API
    package: PackageFacts = field(default_factory=PackageFacts)
    board: Board | None = None  # that was named

    @property
    def assembled(self) -> tuple[str, ...]:
        """The sources in assembler."""
        return tuple(name for name in self.sources if name.endswith(".S"))
