"""Knows who is right where two sides differ: the first value that is not the same, and outputs of the model, computed
in rational arithmetic from values that both agree on. Does not know who the sides are, nor how they were run.

One side is what tilewright computes; the other has the same inputs, and some values by the model's names. Integers
part where they differ at all, floats where an element is outside its tolerance (`outputs`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tilewright.comparison.exact.evaluation import Exactly, demand_feasible, exactly, piece
from tilewright.comparison.exact.rationals import NotExact
from tilewright.comparison.exact.rounding import from_tie
from tilewright.comparison.outputs import FLOAT_TOLERANCE, tolerances
from tilewright.comparison.verdicts import difference
from tilewright.ir.graphs.graph import Graph, Node
from tilewright.ir.graphs.operator import Operator

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[Any]
    Marks = npt.NDArray[np.bool_]

Values = Sequence[Mapping[str, "Array"]]  # of each set of inputs, by name
_MOVING = frozenset(("Concat", "Gather", "MaxPool", "Pad", "Reshape", "Slice", "Transpose", "Upsample"))
_ROUNDING = frozenset(("QuantizeLinear", "Round"))
OURS, THEIRS, EACH, NEITHER, UNDECIDED, AGREE = "tilewright", "other", "each in places", "neither", "undecided", "agree"


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """How far one side is from exact arithmetic, over all sets."""

    off: int = 0  # elements
    off_where_parted: int = 0
    largest: float = 0.0  # difference: steps of integers

    def with_set(self, apart: npt.NDArray[np.float64], off: Marks, parted: Marks) -> Side:
        """With one set more."""
        import numpy as np

        return Side(
            off=self.off + int(np.count_nonzero(off)),
            off_where_parted=self.off_where_parted + int(np.count_nonzero(off & parted)),
            largest=max(self.largest, float(np.max(apart, initial=0.0))),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """One element that parts: what each side has, and what is right."""

    set: int
    index: tuple[int, ...]
    ours: float
    theirs: float
    exact: float
    before: float | None = None  # what is rounded to a whole step, without the zero point
    tie: bool = False  # exactly half-way, so that it goes to the even one
    from_tie: float | None = None  # how far `before` is from half-way, in steps


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """Who is right about one value that parts. `right` is one of this module's words."""

    right: str
    value: str
    node: str
    op: str  # of the graph that is compiled
    by_formula: bool  # tilewright computes it with integers, by the documented formula
    is_float: bool
    elements: int
    parted: int  # elements that differ
    ties: int = 0  # of them
    neither: int = 0  # of them, where both sides are off
    known: tuple[str, ...] = ()  # what exact arithmetic began with
    roundings: int = 0  # that the model asks for between these and the value
    ours: Side = Side()
    theirs: Side = Side()
    example: Example | None = None
    reason: str = ""  # why it is undecided

    @property
    def faulty(self) -> bool:
        """Whether tilewright is further off than one rounding that falls otherwise takes it."""
        if self.right == UNDECIDED:
            return False
        if self.is_float:
            return self.roundings == 0 and self.ours.off > 0
        return self.roundings <= 1 and self.ours.largest > 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The first value that parts, and each output of the model that does so behind it."""

    compared: int  # values that both sides have
    equal: int  # of them, up to the first that parts
    judgements: tuple[Judgement, ...] = ()

    @property
    def right(self) -> str:
        """Who is right about outputs of the model; where none parts, about the first value that does."""
        judged = self.judgements[1:] or self.judgements
        words = tuple(dict.fromkeys(judgement.right for judgement in judged))
        return words[0] if len(words) == 1 else EACH if words else AGREE


@dataclass(frozen=True, slots=True, kw_only=True)
class Sides:
    """All that is judged. `imported` says what the model means, `compiled` has tilewright's values by name."""

    imported: Graph
    compiled: Graph
    inputs: Values
    ours: Values
    theirs: Values

    def shared(self) -> list[str]:
        """Computed values that both sides and both graphs have in one form, in the order of the compiled graph."""
        names = (name for node in self.compiled.nodes for name in node.outputs)
        return [name for name in names if self._in_one_form(name)]

    def _in_one_form(self, name: str) -> bool:
        tensor, compiled = self.imported.tensors.get(name), self.compiled.tensors[name]
        return (
            tensor is not None
            and (tensor.dtype, tensor.shape) == (compiled.dtype, compiled.shape)
            and all(
                name in values and values[name].shape == tensor.shape and values[name].dtype == tensor.dtype.numpy
                for values in self.theirs
            )
        )

    def pairs(self, name: str) -> list[tuple[Array, Array]]:
        """What both have, of each set."""
        return [(ours[name], theirs[name]) for ours, theirs in zip(self.ours, self.theirs, strict=True)]

    def equal(self, name: str) -> bool:
        """Whether nothing differs in any set."""
        return all(not difference(*pair).any() for pair in self.pairs(name))

    def parts(self, name: str) -> bool:
        """Whether some element is another integer, or a float outside its tolerance."""
        return any(self.parted(name, *pair).any() for pair in self.pairs(name))

    def parted(self, name: str, ours: Array, theirs: Array) -> Marks:
        """Which elements part."""
        apart = difference(ours, theirs)
        dtype = self.imported.tensors[name].dtype
        return apart > (tolerances(dtype, theirs, max(FLOAT_TOLERANCE, 16 * dtype.unit)) if dtype.is_float else 0)


def judge(sides: Sides, operators: Mapping[str, Operator]) -> Verdict:
    """Each value that is asked about, decided where rational arithmetic can."""
    names = sides.shared()
    first = next((at for at, name in enumerate(names) if sides.parts(name)), len(names))
    checked = [*names[first : first + 1], *(name for name in names[first + 1 :] if name in sides.compiled.outputs)]
    parted = [name for name in checked if sides.parts(name)]
    judgements = (_judgement(sides, name, names[: names.index(name)], operators) for name in parted)
    return Verdict(compared=len(names), equal=first, judgements=tuple(judgements))


def _judgement(sides: Sides, name: str, before: Sequence[str], operators: Mapping[str, Operator]) -> Judgement:
    node = sides.compiled.producer()[name]
    op = _computing(sides.compiled, node)
    here = Judgement(
        right=UNDECIDED,
        value=name,
        node=node.name,
        op=op,
        by_formula=op.startswith("Q") and op != "QuantizeLinear",
        is_float=sides.imported.tensors[name].dtype.is_float,
        elements=sum(ours.size for ours, _ in sides.pairs(name)),
        parted=sum(int(sides.parted(name, *pair).sum()) for pair in sides.pairs(name)),
    )
    try:
        return _decided(sides, here, before, operators)
    except NotExact as reason:
        return replace(here, reason=str(reason))


def _computing(graph: Graph, node: Node) -> str:
    """The operator that computes what a node only moves."""
    producer = graph.producer()
    while node.op in _MOVING and node.inputs[0] in producer:
        node = producer[node.inputs[0]]
    return node.op


def _decided(sides: Sides, here: Judgement, before: Sequence[str], operators: Mapping[str, Operator]) -> Judgement:
    """From integers that both agree on, so that what lies between is the file's own arithmetic; from any equal values
    where floats part, or where that is too much.
    """
    agreed = [name for name in before if sides.equal(name)]
    whole = [name for name in agreed if not sides.imported.tensors[name].dtype.is_float]
    if here.is_float:
        return _judged(sides, here, agreed, operators)
    try:
        return _judged(sides, here, whole, operators)
    except NotExact:
        if len(whole) == len(agreed):
            raise
        return _judged(sides, here, agreed, operators)


def _judged(sides: Sides, here: Judgement, agreed: Collection[str], operators: Mapping[str, Operator]) -> Judgement:
    sites = piece(sides.imported, here.value, agreed)
    demand_feasible(sites, operators)
    inner = {name for site in sites for name in site.node.outputs}
    read = dict.fromkeys(name for site in sites for name in site.node.inputs if name and name not in inner)
    result = replace(
        here,
        known=tuple(name for name in read if name not in sides.imported.constants),
        roundings=sum(site.node.op in _ROUNDING for site in sites),
    )
    for number, (ours, theirs) in enumerate(sides.pairs(here.value)):
        known = {**sides.ours[number], **sides.inputs[number]}
        exact = exactly(sites, known, sides.imported.constants, operators)
        result = _with_set(sides, result, number, ours, theirs, exact)
    return replace(result, right=_right(result))


def _with_set(sides: Sides, judgement: Judgement, number: int, ours: Array, theirs: Array, exact: Exactly) -> Judgement:
    """The judgement with one set more."""
    import numpy as np

    dtype, right = sides.imported.tensors[judgement.value].dtype, exact.value.floats()
    limit = tolerances(dtype, right, max(FLOAT_TOLERANCE, 16 * dtype.unit)) if dtype.is_float else np.zeros(())
    parted = sides.parted(judgement.value, ours, theirs)
    apart = [difference(side, right) for side in (ours, theirs)]
    off = [each > limit for each in apart]
    example = judgement.example or _example(number, ours, theirs, exact, parted)
    return replace(
        judgement,
        ties=judgement.ties + (0 if exact.ties is None else int(np.count_nonzero(exact.ties & parted))),
        neither=judgement.neither + int(np.count_nonzero(off[0] & off[1] & parted)),
        ours=judgement.ours.with_set(apart[0], off[0], parted),
        theirs=judgement.theirs.with_set(apart[1], off[1], parted),
        example=example,
    )


def _example(number: int, ours: Array, theirs: Array, exact: Exactly, parted: Marks) -> Example | None:
    """The first element that parts."""
    import numpy as np

    for place in np.argwhere(parted)[:1]:
        index = tuple(int(axis) for axis in place)
        before = exact.number_before(index)
        return Example(
            set=number,
            index=index,
            ours=float(ours[index]),
            theirs=float(theirs[index]),
            exact=float(exact.value.at(index)),
            before=None if before is None else float(before),
            tie=exact.ties is not None and bool(exact.ties[index]),
            from_tie=None if before is None else float(from_tie(before)),
        )
    return None


def _right(judgement: Judgement) -> str:
    """Of the elements that part: who has all of them, or some."""
    ours, theirs = (judgement.parted - side.off_where_parted for side in (judgement.ours, judgement.theirs))
    if ours == judgement.parted:
        return OURS if theirs < judgement.parted else EACH
    if theirs == judgement.parted:
        return THEIRS
    return EACH if ours or theirs else NEITHER
