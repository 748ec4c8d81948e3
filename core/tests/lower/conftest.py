"""What is generated for a graph that is tiled as one region, function by function: as text, and carried out.

Functions are carried out on one core, as numbers: what they move, compute and wait for is noted, and nothing else done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from operator import eq, floordiv, ge, gt, lt, mod
from types import SimpleNamespace
from typing import Any

import pytest

from tilewright.allocate.best_fit import BestFit
from tilewright.emit.ctree import print_body
from tilewright.ir.graphs.graph import Graph
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.machines.platform import Platform
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.region import Copy, Cut, Hop, InternalValue, Region, Tiles
from tilewright.ir.plans.stages import Allocated, Group
from tilewright.ir.plans.tiler import TilingRequest
from tilewright.ir.programs.expressions import (
    Cast,
    Choice,
    Element,
    Expression,
    Field,
    FunctionCall,
    Name,
    Number,
    Operation,
    Product,
    Reference,
    Struct,
    Sum,
)
from tilewright.ir.programs.program import Part, Program, StepCode
from tilewright.ir.programs.statements import (
    Barrier,
    Charge,
    CopyStart,
    CopyWait,
    Declare,
    For,
    Foreign,
    If,
    KernelCall,
    PartCall,
    Statement,
)
from tilewright.ir.tensors.dtypes import DType
from tilewright.ir.tensors.layout import row_major
from tilewright.lower import lower
from tilewright.lower.names import offset_names
from tilewright.plan.proposals.planner import Planner
from tilewright.testing.cluster import cluster
from tilewright.testing.one_step import portable_kernels, vocabulary
from tilewright.testing.sketch import Sketch

POOL = {"kernel_shape": (3, 3), "strides": (1, 1), "dilations": (1, 1), "pads": (1, 1, 1, 1), "ceil_mode": 0}
POOLS = Region(
    steps=("a", "b", "c"),
    schedule=Tiles(
        hops=(
            Hop(
                outer="l2",
                inner="l1",
                nest=(Cut("h", 3),),
                copies={"a.X": Copy(level=1), "c.Y": Copy(level=1, buffers=2)},
            ),
        )
    ),
    internal_values={
        "a:0": InternalValue(memory="l1", form="rolling"),
        "b:0": InternalValue(memory="l1", form="recomputed"),
    },
)


def clamp(value: int, low: int, high: int) -> int:
    return min(max(value, low), high)


def span(low: int, extent: int, before: int = 0, after: int = 0) -> SimpleNamespace:
    return SimpleNamespace(low=low, extent=extent, before=before, after=after)


def clipped(first: int, end: int, size: int) -> SimpleNamespace:
    low, high = clamp(first, 0, size), clamp(end, 0, size)
    return span(low, max(high - low, 0), max(-first, 0), max(end - size, 0))


def range_(low: int, high: int) -> SimpleNamespace:
    return SimpleNamespace(low=low, high=high)


HELPERS: Mapping[str, Callable[..., Any]] = {  # of text/*.c, in Python
    "tw_clamp": clamp,
    "tw_least": min,
    "tw_most": max,
    "tw_span_inside": lambda first, end: span(first, end - first),
    "tw_span_clipped": clipped,
    "tw_tile": lambda whole, tile, size: range_(
        whole.low + tile * size, min(whole.high, whole.low + (tile + 1) * size)
    ),
    "tw_tiles": lambda whole, size: -(-(whole.high - whole.low) // size),
    "tw_need": lambda first, end, size: range_(clamp(first, 0, clamp(end, 0, size)), clamp(end, 0, size)),
    "tw_beyond": lambda need, done: range_(max(need.low, done), need.high),
    "tw_share": lambda whole, grain: whole,
    "tw_rt_is_dma_core": lambda: 1,
    "tw_rt_core": lambda: 0,
}
OPERATIONS = {"/": floordiv, "%": mod, "<": lt, ">": gt, ">=": ge, "==": eq, "&&": lambda one, other: one and other}


def value_of(expression: Expression, names: Mapping[str, Any]) -> Any:
    """A C expression, for variables that are as in `names`."""

    def value(one: Expression) -> Any:
        return value_of(one, names)

    match expression:
        case Number(value=number):
            return number
        case Name(text=text):
            return names[text]
        case Field(of=of, member=member):
            return getattr(value(of), member)
        case Element(of=of, at=at):
            return value(of)[value(at)]
        case FunctionCall(function=function, arguments=arguments):
            return HELPERS[function](*map(value, arguments))
        case Sum(constant=constant, terms=terms):
            return constant + sum(factor * value(term) for factor, term in terms)
        case Product(factors=factors):
            first, *rest = map(value, factors)
            for factor in rest:
                first *= factor
            return first
        case Operation(operator=operator, left=left, right=right):
            return OPERATIONS[operator](value(left), value(right))
        case Choice(condition=condition, yes=yes, no=no):
            return value(yes if value(condition) else no)
        case Cast(value=of) | Reference(value=of):
            return value(of)
        case Struct(type=kind, values=values, members=members):
            found = [value(one) for one in values]
            if members:
                return SimpleNamespace(**dict(zip(members, found, strict=True)))
            return range_(*found) if kind == "tw_range" else found
    raise TypeError(type(expression).__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Functions carried out; `noted` is what they do."""

    codes: Mapping[str, StepCode | Part]
    offsets: Mapping[str, int]
    noted: list[tuple[str, Any]] = field(default_factory=list)

    def call(self, function: str, arguments: Iterable[Any]) -> Any:
        """Carry out one function: what it returns."""
        code = self.codes[function]
        names = {**self.offsets, **dict(zip((one.name for one in code.parameters), arguments, strict=True))}
        self._body(code.body, names)
        return value_of(code.result, names) if isinstance(code, Part) and code.result else None

    def _body(self, body: Iterable[Statement], names: dict[str, Any]) -> None:
        for one in body:
            match one:
                case Declare():
                    names[one.name] = self._declared(one.value, names)
                case If():
                    self._body(one.body if value_of(one.condition, names) else one.otherwise, names)
                case For():
                    for trip in range(*(value_of(each, names) for each in (one.start, one.stop, one.step))):
                        self._body(one.body, {**names, one.variable: trip})
                case PartCall():
                    self.noted.append((one.function, names.get("t")))
                    self.call(one.function, [value_of(each, names) for each in one.arguments])
                case _:
                    self._note(one, names)

    def _declared(self, value: Expression, names: Mapping[str, Any]) -> Any:
        if isinstance(value, FunctionCall) and value.function in self.codes:
            return self.call(value.function, [value_of(each, names) for each in value.arguments])
        return value_of(value, names)

    def _note(self, one: Statement, names: Mapping[str, Any]) -> None:
        match one:
            case KernelCall(kernel=kernel) if "." in kernel or isinstance(one.code, Foreign):
                self.noted.append((one.kernel, dict(names)))
            case (
                KernelCall(code=FunctionCall() as code)
                | CopyStart(code=FunctionCall() as code)
                | CopyWait(code=FunctionCall() as code)
                | Charge(code=FunctionCall() as code)
            ):
                self.noted.append((code.function, [value_of(each, names) for each in code.arguments]))
            case Barrier():
                self.noted.append(("barrier", None))


@dataclass(frozen=True, slots=True, kw_only=True)
class Generated:
    """The program, and the plan that it is for."""

    plan: Allocated
    program: Program

    def step(self, name: str) -> StepCode:
        return next(one for one in self.program.steps if one.step == name)

    def function(self, name: str) -> str:
        """The body of a function of the steps."""
        code = {one.function: one.body for step in self.program.steps for one in (step, *step.parts)}
        return "\n".join(print_body(code[name], 0, ()))

    @property
    def functions(self) -> list[str]:
        return [one.function for step in self.program.steps for one in (*step.parts, step)]

    def done_by(self, function: str, **given: Any) -> list[tuple[str, Any]]:
        """What a function does: (function or kernel that it calls, arguments), in order. Pools begin at byte 0."""
        places = {name: place.offset_bytes for name, place in self.plan.placements.items()}
        offsets = {name: places[buffer] for buffer, name in offset_names(self.plan, vocabulary(), "net").items()}
        codes = {one.function: one for step in self.program.steps for one in (step, *step.parts)}
        run = Run(codes=codes, offsets=offsets)
        run.call(function, [given.get(one.name, 0) for one in codes[function].parameters])
        return run.noted


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fixed:
    """One region of everything."""

    region: Region
    name: str = "fixed"
    summary: str = ""

    def plan(self, request: TilingRequest) -> tuple[Group, ...]:
        return (Group(region=self.region),)


@pytest.fixture(scope="session")
def generate() -> Callable[..., Generated]:
    """The program `net` for a graph on the cluster of tests, in row-major order."""

    def made(
        graph: Graph, region: Region, kernels: Mapping[str, Kernel] | None = None, platform: Platform | None = None
    ) -> Generated:
        rows = {value: row_major(len(tensor.shape)) for value, tensor in graph.tensors.items()}
        apart = {node.outputs[0]: "" for node in graph.nodes}
        planner = Planner(
            operators=vocabulary(),
            kernels={**portable_kernels(), **(kernels or {})},
            tiler=_Fixed(region=region),
            allocator=BestFit(),
            pins=Decisions(in_place=apart, layouts=rows),
        )
        plan = planner.plan(planner.bind(graph, platform or cluster()))
        return Generated(plan=plan, program=lower(plan, vocabulary(), "net"))

    return made


@pytest.fixture(scope="session")
def pools(generate: Callable[..., Generated]) -> Generated:
    """The pools `a` and `c` of 3 x 3 with the clip `b` between them: 2 x 8 x 4 floats, rows of 16 bytes, in three
    tiles of 3, 3 and 2 rows. Of `a` rows stay from tile to tile.
    """
    sketch = Sketch(operators=vocabulary())
    a = sketch.node("MaxPool", (sketch.input("x", DType.F32, (1, 2, 8, 4)),), POOL, "a")
    c = sketch.node("MaxPool", (sketch.node("Clip", (a,), {"min": 0.0}, "b"),), POOL, "c")
    return generate(sketch.finish(c), POOLS)


@pytest.fixture(scope="session", name="value_of")
def _value_of() -> Callable[..., Any]:
    return value_of
