"""Knows what a kernel binding is: C that computes an operator on one tile, and all that the core must know to use it.
Does not know which kernel is chosen (`bind`) or how a call is surrounded by loops and copies (`lower`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tilewright.ir.access.index_map import Access, Box
from tilewright.ir.code_fragments import CodeFragment, FragmentTemplate
from tilewright.ir.graphs.graph import Site
from tilewright.ir.tensors.dtypes import DType
from tilewright.ir.tensors.layout import Layout
from tilewright.ir.tensors.stored_form import Stored

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

CodeFragments = tuple[CodeFragment | FragmentTemplate, ...]
Source = str | CodeFragments | Callable[[Mapping[str, Any]], CodeFragments]


@dataclass(frozen=True, slots=True, kw_only=True)
class Matched(Site):
    """A node that a kernel accepts, with what its `match` found: what all else in the kernel is asked about."""

    analysis: Any = field(default=None, compare=False)  # a frozen value of the kernel's own; None where it needs none

    @classmethod
    def of(cls, site: Site, analysis: object) -> Matched:
        """`site` with an analysis of it, or of another node that is the same layer."""
        return cls(
            node=site.node, inputs=site.inputs, outputs=site.outputs, constants=site.constants, analysis=analysis
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Operand:
    """One operand of one call, as templates see it. Printed, it is the C pointer to the tile's first element.

    Tuples have one entry for each axis of the tensor (or of the packed constant). Entries that are the same
    for every tile are decimal numbers; the others are names or members of type int32_t, which need no parentheses.
    """

    name: str
    pointer: str  # name of a variable, of type `const T *` for inputs and `T *` for outputs
    dtype: DType
    shape: tuple[int, ...]  # of the whole tensor
    strides: tuple[int, ...]  # elements between neighbours, in the memory the kernel reads
    extents: tuple[str, ...]  # of this tile, padding excluded
    origin: tuple[str, ...]  # of this tile in the whole tensor
    before: tuple[str, ...]  # padding positions before the tile's first element, per axis
    after: tuple[str, ...]

    def __str__(self) -> str:
        return self.pointer


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One use of a kernel, at code generation: what `values` and the `call` snippet are given."""

    site: Matched
    operands: Mapping[str, Operand]  # by operand name, packed constants and "scratch" included; "acc": `PartialSums`
    extents: Mapping[str, str]  # loop -> C expression of its trip count in this tile
    name: str  # C identifier of the step, unique in the program
    first: str = ""  # C conditions: the tile is the first, the last of a reduction that is cut; "" where none is cut
    last: str = ""
    job: Mapping[str, Operand] = field(default_factory=dict)  # of `Finish`: operands as the engine's job had them
    bases: tuple[str, ...] = ()  # of a kernel with `pack_placed`, C pointers to bytes: what `OperandPlace.base` numbers

    @property
    def is_part(self) -> bool:
        """Whether it computes a part of its reductions: it has the operand `acc`."""
        return "acc" in self.operands

    @property
    def part_fields(self) -> Mapping[str, str]:
        """`first` and `last` as a C struct has them; nothing where everything is computed at once."""
        return {"first": self.first, "last": self.last} if self.is_part else {}


@dataclass(frozen=True, slots=True, kw_only=True)
class PartialSums:
    """How a kernel with one output computes a reduction that is cut into tiles: which loops, and its sums' type.

    Where such a loop is cut, and only there, calls have an operand `acc`: for each element of the output's tile one of
    `dtype`, in the scratchpad, with the output's axes and strides of its own, kept from one tile of the reduction to
    the next. `Call.first` is where the kernel begins its sums: what is in `acc` before means nothing. `Call.last` is
    where it adds what comes once (a bias), and writes the output, which it leaves alone otherwise. The same core has
    the same elements in all tiles of a reduction, and these follow one another.
    """

    loops: tuple[str, ...]
    dtype: DType


@dataclass(frozen=True, slots=True, kw_only=True)
class Finish:
    """What the cores of the platform's first engine do with what an asynchronous kernel's job has left in its scratch.

    `call` is Mako as that of the kernel, for a core's share along the first of the loops in `parallel` that is long
    enough. It sees operands of the share, `scratch` of the whole job, and by `Call.job` what the job had computed.
    """

    call: str
    parallel: tuple[str, ...]
    cycles: Callable[[TileShape], float]  # of one core, for its share
    multiples: Mapping[str, int] = field(default_factory=dict)  # a loop of `parallel` -> trips of a share


@dataclass(frozen=True, slots=True, kw_only=True)
class Sharing:
    """That steps whose `call` differs in numbers only may share the kernel's code, which then reads these numbers from
    a structure: those without a suffix as int32_t, those that end in `u` as uint32_t.

    Where this is estimated to take more than 0.2 % of a step, the step keeps code of its own.
    """

    folds: tuple[str, ...] = ()  # members of structures in `call` for whose numbers the code is compiled, as those that
    # unroll loops: steps that differ in them do not share it
    slowdown: float = 0.0  # the part that it takes longer where the compiler does not know the other numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class TileShape:
    """A node and the largest box of its loops that one call computes: what costs and scratch depend on."""

    site: Matched
    access: Access
    box: Box

    def extent(self, loop: str) -> int:
        """Trips of one loop."""
        low, high = self.box[loop]
        return high - low


@dataclass(frozen=True, slots=True, kw_only=True)
class OperandPlace:
    """Where a call finds an operand: so many bytes behind a base, whose address is known when the program runs.

    A base is the caller's pool of one memory, constants in one memory, or a tensor that stays with the caller.
    """

    base: int  # which of `Call.bases`
    offset_bytes: int  # of the tile's first element
    memory: str  # "": the caller's


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedTile(TileShape):
    """The same where it is known which bytes its operands are: what constants that hold addresses are made of."""

    places: Mapping[str, OperandPlace]  # by operand, packed constants included; "scratch", where there is any


def _anything(site: Site) -> None:
    return None


def _nothing(site: Matched) -> Mapping[str, Any]:
    return {}


def _no_bytes(site: Matched) -> int:
    return 0


def _no_values(call: Call) -> Mapping[str, object]:
    return {}


def _never(site: Matched) -> PartialSums | None:
    return None


def _none(site: Matched) -> tuple[str, ...]:
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernel:
    """A kernel binding. `op` and `call` are enough for a kernel that accepts everything its operator does.

    `call` is Mako, which sees the names in `values(call)`, every operand by its name, and every loop's trip count as
    `${loops["h"]}`. `source` is Mako that sees `values(call)`, or named sections, which kernels may share, or a
    function from those values to sections. A program has every section once.

    `match` is asked once for all nodes that are the same layer: same operator, attributes, shapes, types and constants,
    whatever their names. A string is a refusal, the sentence that says why not. Anything else accepts, and is what all
    other functions find as `site.analysis`. All but `values` are asked about the first such node only: what they answer
    must not depend on names.

    A kernel with `wait` is asynchronous: `call` starts a job on its engine, `wait` waits until no more than `behind`
    jobs of that engine are left, and the job's outputs are there. The two may stand in different functions, with
    another job started in between (`Engine.queue`); job number t then has part `t % queue` of the scratch, of which
    `scratch_bytes` is all. With `finish`, the job leaves something in scratch, and the cores write the outputs.

    With `pack_tile`, constants that `pack` has made are packed again once tiles are chosen: the window that a tile
    reads has what it answers for this tile's `box`, an array of the window's shape. Of loops that do not move the
    operand, `box` is that of the first such tile. Each axis is one loop or `:` in the map; where only the first is a
    loop, a tile is one run of bytes. No two cores share such a loop, and no other step is computed in the same tiles.

    With `pack_placed`, constants that `pack` has made, streams of commands, are packed again once places are known:
    the window that a tile reads has what it answers for this tile, an array of the window's shape. Such a kernel has no
    `parallel` and no sums in parts; its `call` hands on `${bases}`, to which the engine adds the offsets.

    What is left of a block of `blocks` counts as slower, in kernels without `cycles` or `instructions`; cores share
    whole blocks where that is faster.
    """

    name: str  # "acme.conv3x3": unique among all installed kernels
    op: str  # operator it computes; the last one of `pattern`
    target: str = "*"  # platform name; "*" is portable C for any platform
    pattern: tuple[str, ...] = ()  # a chain of operators computed as one step, first to last; () is `op` alone
    engine: str = ""  # "" is the platform's first
    roundings: tuple[str, ...] = ("onnx",)  # what integer layers it computes, by `Node.rounding`; "*": whatever it is
    match: Callable[[Site], object] = _anything  # why not, as a str; else what the others find as `site.analysis`
    access: Callable[[Matched], Access] | str | None = (
        None  # None: the operator's; a str is an index map over packed operands
    )
    attributes: Callable[[Matched], Mapping[str, int]] = _nothing  # names in a map given as str
    requires: Callable[[Matched], Mapping[str, Layout]] = _nothing  # operand -> the only layout it can take
    prefers: Callable[[Matched], Mapping[str, Layout]] = _nothing  # operand -> layout it is fastest in
    stored: Callable[[Matched], Mapping[str, Stored]] = _nothing  # operand -> form with padding that it has in memory:
    # groups of channels, rows of a pitch; `access`, layouts and `call` are about operands as they are stored
    pack: Callable[[Matched], Mapping[str, Array]] = _nothing  # operand -> constant as stored; replaces ONNX constants
    pack_tile: Callable[[TileShape], Mapping[str, Array]] | None = None  # a tile -> what it reads of packed constants
    pack_placed: Callable[[PlacedTile], Mapping[str, Array]] | None = None  # the same, of a tile whose places are known
    weight_bits: tuple[int, ...] = (8,)  # widths of weights that `pack` keeps; one that keeps 8 alone computes narrower
    # ones too, which then count as `more_constants`
    more_constants: Callable[[Matched], int] = _no_bytes  # bytes that `pack` makes beyond what others need, for speed
    scratch_bytes: Callable[[TileShape], int] = lambda tile: 0
    in_place: Callable[[Matched], tuple[tuple[str, str], ...]] = lambda site: ()  # (input, output) that may share bytes
    shifts: Callable[[Matched], tuple[tuple[str, str], ...]] = lambda site: ()  # the output may begin before the input,
    # whose elements it has at the same distances from each other: what a state keeps moves on where it is
    memories: Mapping[str, tuple[str, ...]] = field(
        default_factory=dict
    )  # operand -> memories it may be in; absent: any
    stays: Callable[[Matched], tuple[str, ...]] = _none  # inputs read where they live, if cores reach it: tiles would
    # hold much more of them than is read
    align: Mapping[str, int] = field(
        default_factory=dict
    )  # operand or "scratch" -> a power of two: where it begins, whole or a tile, the address is a multiple of it
    banks: tuple[
        tuple[str, ...], ...
    ] = ()  # operands, or "scratch", that each lie in one bank of their memory, where it
    # has banks (`Memory.bank_bytes`), no two of a group in the same
    multiples: Mapping[str, int] = field(default_factory=dict)  # loop -> tile extents are multiples of this
    blocks: Mapping[str, int] = field(
        default_factory=dict
    )  # loop -> iterations computed at once, faster than one by one
    parallel: tuple[str, ...] = ()  # loops that may be split over cores, best first; "*" is every parallel one
    accumulates: Callable[[Matched], PartialSums | None] = _never  # None: no reduction may be cut
    cycles: Callable[[TileShape], float] | None = None  # None: operations over throughput
    instructions: Callable[[TileShape], float] | None = (
        None  # instead of `cycles`, of an engine that has `instructions`
    )
    stack_reads: Callable[[TileShape], float] | None = None  # of `cycles`: what its core reads of its stack
    step_cycles: float = 0.0  # of a step, once, beside what its engine takes: this kernel's code comes into caches
    code_stays: bool = False  # it fits the cache: no `Engine.code_waits`, no `copy_start_cycles` of a core apart
    describe: Callable[[Matched], Mapping[str, Any]] = _nothing  # further facts for the report, JSON values
    values: Callable[[Call], Mapping[str, object]] = _no_values
    source: Source = ""  # C at file scope; everything in it is static
    call: str = ""  # Mako for one statement
    sharing: Sharing | None = None  # None: steps share its code only where all numbers in `call` are the same
    wait: str = ""  # asynchronous engines: `call` starts, this waits
    finish: Finish | None = None  # what the cores do once a job has ended
    includes: tuple[str, ...] = ("<stdint.h>",)
    libraries: tuple[str, ...] = ()  # files to link, by absolute paths; copies stand beside the sources
    licence: str = "Apache-2.0"
    rank: int = 0  # ties in cost: a higher rank wins

    def __post_init__(self) -> None:
        if not isinstance(self.pattern, tuple):
            raise TypeError(f"kernel '{self.name}': pattern is {self.pattern!r}, not a tuple")
        for operand, align in self.align.items():
            if not isinstance(align, int) or align < 1 or align & (align - 1):
                raise ValueError(f"kernel '{self.name}': align of {operand} is {align!r}, not a power of two")
        if self.pattern and self.pattern[-1] != self.op:
            raise ValueError(f"kernel '{self.name}' computes {self.op}, and its pattern ends in {self.pattern[-1]}")
        if self.pack_placed and (self.parallel or self.accumulates is not _never):
            raise ValueError(f"kernel '{self.name}' has `pack_placed`, and cores share its tiles, or parts its sums")
        if self.stores and (self.pattern or self.access is None):
            lacking = "computes a chain" if self.pattern else "says no `access`, which is over operands as stored"
            raise ValueError(f"kernel '{self.name}' has `stored`, and {lacking}")

    @property
    def packs_late(self) -> bool:
        """Whether constants are packed once tiles or places are known: they are one step's alone."""
        return self.pack_tile is not None or self.pack_placed is not None

    @property
    def stores(self) -> bool:
        """Whether it has operands in forms of its own."""
        return self.stored is not _nothing

    @property
    def computes(self) -> str:
        """The operator by its name in the vocabulary: `Conv+Add` where it computes a chain."""
        return "+".join(self.pattern or (self.op,))
