"""Knows how to test one operator without a graph: a layer as a sample with its inputs, a site from arrays, bytes and
requantisations that find rounding, clamping and overflow mistakes, and access maps checked point by point. Does not
know any operator, nor how a kernel is run (`kernel_run`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Literal

from tilewright.ir.access.index_map import Access, Box, MapAccess
from tilewright.ir.graphs.chains import chain_node
from tilewright.ir.graphs.evaluation import allowed, results
from tilewright.ir.graphs.graph import Attribute, Node, Site, Tensor
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.graphs.stored_sites import open_padding, stored_operands
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.tensors.dtypes import DType

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]
from dataclasses import dataclass, field

from tilewright.ir.tensors.requant import Requant
from tilewright.ir.tensors.roundings import DoubleRounding, MultiplyShift, Rational

ROUNDINGS = ("onnx", "tflm", "rational", "multiply-shift")
_ROUNDED: tuple[Literal["floor", "half-up", "half-even"], ...] = ("floor", "half-up", "half-even")


def site_of(
    operator: Operator,
    inputs: Sequence[Array | None],
    attributes: Mapping[str, Attribute] | None = None,
    constants: Sequence[int] = (),
) -> Site:
    """A node of `operator` over these inputs, its outputs inferred. `constants` are positions known at compile time.

    A chain (`Conv+Add`) has the inputs of all its nodes, None where one reads what another writes; attributes have the
    node's position before their names: `0.pads`, `1.axis`.
    """
    names = tuple("" if array is None else f"in{index}" for index, array in enumerate(inputs))
    if operator.members:
        return _chain_of(operator, names, inputs, attributes or {}, constants)
    outputs = tuple(f"out{index}" for index in range(len(operator.outputs)))
    site = Site(
        node=Node(name="node", op=operator.name, inputs=names, outputs=outputs, attributes=attributes or {}),
        inputs=tuple(
            None if array is None else Tensor(name=name, dtype=DType.from_numpy(array.dtype), shape=array.shape)
            for name, array in zip(names, inputs, strict=True)
        ),
        outputs=tuple(Tensor(name=name, dtype=DType.F32, shape=()) for name in outputs),
        constants={names[index]: array for index in constants if (array := inputs[index]) is not None},
    )
    return replace(site, outputs=operator.infer(site))


def _chain_of(
    chain: Operator,
    names: Sequence[str],
    inputs: Sequence[Array | None],
    attributes: Mapping[str, Attribute],
    constants: Sequence[int],
) -> Site:
    """The first input that is absent of a later node is what the one before writes."""
    known = {
        name: Tensor(name=name, dtype=DType.from_numpy(array.dtype), shape=array.shape)
        for name, array in zip(names, inputs, strict=True)
        if array is not None
    }
    held = {names[index]: array for index in constants if (array := inputs[index]) is not None}
    nodes: list[Node] = []
    at = 0
    for position, operator in enumerate(chain.members):
        own = list(names[at : at + len(operator.inputs)])
        if nodes:
            own[own.index("")] = nodes[-1].outputs[0]
        written = "out0" if position == len(chain.members) - 1 else f"inner{position}"
        prefix = f"{position}."
        named = {name.removeprefix(prefix): value for name, value in attributes.items() if name.startswith(prefix)}
        node = Node(name=f"node{position}", op=operator.name, inputs=tuple(own), outputs=(written,), attributes=named)
        (known[written],) = operator.infer(
            Site(
                node=node,
                inputs=tuple(known[name] if name else None for name in own),
                outputs=(Tensor(name=written, dtype=DType.F32, shape=()),),
                constants={name: array for name, array in held.items() if name in own},
            )
        )
        nodes.append(node)
        at += len(operator.inputs)
    node = chain_node(nodes, known, {operator.name: operator for operator in chain.members})
    inside = tuple(known[name] if name else None for name in node.inputs)
    return Site(node=node, inputs=inside, outputs=(known["out0"],), constants=held)


def points(access: Access, box: Box | None = None) -> Iterator[dict[str, int]]:
    """Every trip of every loop of `access`, or of the part of them in `box`."""
    names = [loop.name for loop in access.loops]
    ranges = [range(*box[loop.name]) if box else range(loop.extent) for loop in access.loops]
    for iterations in product(*ranges):
        yield dict(zip(names, iterations, strict=True))


def position(access: MapAccess, operand: str, point: Mapping[str, int]) -> tuple[int, ...] | None:
    """The element of `operand` that one point touches; None when it is padding. Whole axes are not supported."""
    indices = []
    for axis in access.axes[operand]:
        if axis.index is None:
            raise ValueError(f"{operand} has a whole axis: no single element")
        index = axis.index.at(point)
        if not 0 <= index < axis.extent:
            return None
        indices.append(index)
    return tuple(indices)


def window_errors(access: MapAccess, box: Box) -> list[str]:
    """What is wrong with `access.window` on `box`, by evaluating the map at every point of it. Empty when right.

    A window must be the smallest hull of all positions touched, with the padding on both sides counted exactly.
    """
    errors = []
    for operand in (*access.inputs, *access.outputs):
        axes, window = access.axes[operand], access.window(operand, box)
        for number, (axis, span) in enumerate(zip(axes, window, strict=True)):
            if axis.index is None:
                touched = list(range(axis.extent))
            else:
                touched = [axis.index.at(point) for point in points(access, box)]
            if not touched:
                continue
            low, last = min(touched), max(touched)
            wanted = (
                min(max(low, 0), axis.extent), max(min(last + 1, axis.extent), 0),
                max(0, -low), max(0, last + 1 - axis.extent),
            )  # fmt: skip
            measured = (span.low, span.high, span.before, span.after)
            if measured != wanted or any((index - low) % span.step for index in touched):
                errors.append(f"{operand} axis {number} over {dict(box)}: window {span}, touched {low}..{last}")
    return errors


def result_errors(
    operator: Operator, site: Site, inputs: Sequence[Array | None], outputs: Sequence[Array]
) -> list[str]:
    """How `outputs` differs from the operator's reference by more than its tolerance allows. Empty when right.

    NaN and infinities must be where the reference has them, but where the tolerance is infinite, which says: anything.
    So does padding that a kernel leaves open.
    """
    import numpy as np

    expected, limits = results(operator, site, inputs), allowed(operator, site, inputs)
    errors = []
    anything, stored = open_padding(site.node, operator, site.outputs), stored_operands(site.node)
    parts = zip(operator.outputs, site.outputs, expected, limits, outputs, strict=False)
    for operand, tensor, wanted, limit, got in parts:
        if got.shape != tensor.shape or wanted.shape != tensor.shape or wanted.dtype != tensor.dtype.numpy:
            errors.append(f"{tensor.name}: {wanted.dtype}{wanted.shape} and {got.shape} for {tensor}")
            continue
        with np.errstate(invalid="ignore"):
            difference = np.abs(got.astype(np.float64) - wanted.astype(np.float64))
        right = (got == wanted) | (np.not_equal(got, got) & np.not_equal(wanted, wanted))
        if limit is not None:
            right |= (difference <= limit) | np.isposinf(np.asarray(limit, np.float64))
        right |= anything.get(operand, False)
        if not right.all():
            at = tuple(int(index) for index in np.argwhere(~right)[0])
            padding = operand in stored and bool(stored[operand].padding(tensor.dtype.size_bytes)[at])
            what = f"{wanted[at]!r} is said to be in padding" if padding else f"reference {wanted[at]!r}"
            errors.append(f"{tensor.name}{list(at)}: {got[at]!r}, {what}; {(~right).sum()} differ")
    return errors


def refusal(kernel: Kernel, site: Site) -> str | None:
    """Why `kernel` does not compute `site`, or None."""
    answer = kernel.match(site)
    return answer if isinstance(answer, str) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One node: its inputs, which of them are known at compile time, its attributes."""

    op: str
    kind: str = ""  # what is particular about it
    inputs: tuple[Array | None, ...]
    attributes: Mapping[str, Attribute] = field(default_factory=dict)
    constants: tuple[int, ...] = ()

    @property
    def name(self) -> str:
        """Unique among all layers; an identifier of C."""
        return f"{self.op}_{self.kind}".rstrip("_").replace(" ", "_").replace("+", "_")


def byte_array(rng: np.random.Generator, dtype: DType, shape: Sequence[int], saturated: bool) -> Array:
    """Random bytes, or only the two ends of the type."""
    import numpy as np

    low, high = dtype.limits
    values = rng.choice([low, high], size=shape) if saturated else rng.integers(low, high + 1, size=shape)
    return np.asarray(values).astype(dtype.numpy)


def make_requant(rng: np.random.Generator, channels: int, dtype: DType, reach: float, kind: str) -> Requant:
    """Scales that spread accumulators up to `reach` over the output type.

    `kind`: "random"; "ties", powers of two, so that halves occur; "coarse", so large that most results saturate.
    """
    import numpy as np

    low, high = dtype.limits
    scale: npt.NDArray[np.floating] = 200.0 / max(reach, 1.0) * 2.0 ** rng.uniform(-2, 2, channels)
    if kind == "ties":
        scale = 2.0 ** np.round(np.log2(scale))
    if kind == "coarse":
        scale = scale * 64
    zero_point = int(rng.choice([low, high, (low + high) // 2, int(rng.integers(low, high + 1))]))
    if rng.random() < 0.3 and zero_point < high:  # a Relu that was fused
        low = zero_point
    return Requant(scale=tuple(float(s) for s in scale.astype(np.float32)), zero_point=zero_point, low=low, high=high)


def with_rounding(rng: np.random.Generator, requant: Requant, name: str) -> Requant:
    """The same requantisation, rounded as `name` ("onnx", "tflm", "rational", "multiply-shift"), with numbers near its
    scales; registers of a multiply-shift may overflow.
    """
    if name == "onnx":
        return requant
    if name == "tflm":
        return replace(requant, rounding=DoubleRounding())
    if name == "rational":
        ratios = [Fraction(scale).limit_denominator(5000) or Fraction(1, 5000) for scale in requant.scale]
        above, below = (tuple(r.numerator for r in ratios), tuple(r.denominator for r in ratios))
        halves: Literal["even", "away"] = "even" if rng.random() < 0.5 else "away"
        return replace(requant, rounding=Rational(numerator=above, denominator=below, halves=halves))
    shifts = tuple(int(shift) for shift in rng.integers(12, 20, len(requant.scale)))
    pairs = zip(requant.scale, shifts, strict=True)
    rounding = MultiplyShift(
        multiplier=tuple(min(round(scale * 2**shift) + 1, 2**24) for scale, shift in pairs),
        addend=tuple(int(addend) for addend in rng.integers(-(2**22), 2**22, len(shifts))),
        shift=shifts,
        rounding=_ROUNDED[rng.integers(len(_ROUNDED))],
        bits=int(rng.choice([24, 32, 48, 64])),
        overflow="wraps" if rng.random() < 0.5 else "saturates",
    )
    return replace(requant, rounding=rounding)
