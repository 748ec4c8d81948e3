"""Knows what an operator is: its name, shape rule, exact reference, access and cost in operations; how its operands
are named; and what a graph pass is. Does not know any particular operator (`operators`) or pass, any kernel or what
it packs (`layer`), nor in which order passes run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from tilewright.ir.access.index_map import Access
from tilewright.ir.graphs.graph import Site, Tensor
from tilewright.ir.tensors.layout import Layout

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from tilewright.ir.graphs.arithmetic import ArithmeticChoice
    from tilewright.ir.graphs.importing import Import

    Array = npt.NDArray[np.generic]
from tilewright.errors import Diagnostic
from tilewright.ir.graphs.graph import Graph


@dataclass(frozen=True, slots=True, kw_only=True)
class Alias:
    """`value` may live inside `of`: its first element is `offset` elements after the first of `of`."""

    value: str
    of: str
    offset: int = 0


def no_alias(site: Site, layouts: Mapping[str, Layout]) -> tuple[Alias, ...]:
    """The answer of an operator that computes something."""
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    """Everything the core knows about one operator of its vocabulary.

    Shapes and types in `infer` come from the site's inputs only (its outputs may be placeholders).
    `reference` gets one array per input (None where absent), computes exactly what the generated C must
    compute, and returns one array per output. For a float operator, `tolerance` returns for each output an
    array of the largest |difference| allowed for each element; None means bit-exact.
    """

    name: str  # ONNX op_type, or tilewright's own (QConv, ...)
    inputs: tuple[str, ...]  # operand names, as in the ONNX text; "..." last when variadic
    outputs: tuple[str, ...]
    infer: Callable[[Site], tuple[Tensor, ...]]
    reference: Callable[[Site, Sequence[Array | None]], tuple[Array, ...]]
    access: Callable[[Site], Access]
    tolerance: Callable[[Site, Sequence[Array | None]], tuple[Array | None, ...]] | None = None
    macs: Callable[[Site], int] = lambda site: 0  # multiply-accumulates
    alias: Callable[[Site, Mapping[str, Layout]], tuple[Alias, ...]] = no_alias
    imports: tuple[Import, ...] = ()  # how ONNX nodes become this operator
    members: tuple[Operator, ...] = ()  # of a chain: the operators that it computes as one, first to last
    summary: str = ""  # one line for `tilewright ops`


@dataclass(frozen=True, slots=True, kw_only=True)
class OperandSource:
    """Where an input operand comes from: a tensor of the graph, or, with `tensor` empty, a packed constant."""

    operand: str
    tensor: str


def input_names(operator: Operator, site: Site) -> tuple[str, ...]:
    """Operand names of the node's inputs; a trailing "..." is spelled out as X0, X1, ... ."""
    if operator.inputs[-1:] == ("...",):
        return tuple(f"{operator.inputs[-2]}{index}" for index in range(len(site.inputs)))
    return operator.inputs[: len(site.inputs)]


class Target(Protocol):
    """What a pass sees of the platform that is compiled for."""

    @property
    def name(self) -> str:
        """What `--target` named."""

    @property
    def settings(self) -> Mapping[str, str]:
        """Every setting, as the user has it or by default."""

    @property
    def inner(self) -> str:
        """The scratchpad that tiles are copied to; "" where kernels compute on values where they live."""

    def runs(self, target: str) -> bool:
        """Whether what is written for `target` is meant for this one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PassContext:
    """What a pass may look at beside the graph: the target as the user has configured it, settings included, and which
    layers are to compute which arithmetic. Both are None where passes are run without a target."""

    operators: Mapping[str, Operator]
    platform: Target | None = None
    arithmetic: ArithmeticChoice | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PassResult:
    """The new graph (the same object when nothing changed) and what the user should know about it."""

    graph: Graph
    diagnostics: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphPass:
    """A named rewrite. `apply` is pure; the graph is verified after it. Outputs stay bit-equal, but for roundings of
    floats; a pass that moves them further by design says that it is `lossy`: `validate` shows how far."""

    name: str
    summary: str
    apply: Callable[[Graph, PassContext], PassResult]
    after: tuple[str, ...] = ()  # passes that must have run before this one
    before: tuple[str, ...] = ()
    roots: tuple[str, ...] = ()  # operators: a graph without any of them is not given to it; none: every graph is
    lossy: bool = False
