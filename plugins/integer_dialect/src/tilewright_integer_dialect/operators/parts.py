"""Knows what the operators of this package have in common: signatures, maps over all elements and over rows, the words
of C that a call hands over. Does not know any operator.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from tilewright.api.graph import DType, Site, Tensor
from tilewright.api.kernel import Call, FragmentTemplate, nest, template_file, walk
from tilewright.api.operator import Access, Conversion, Import, OnnxNode, parse_map
from tilewright_integer_dialect.writing import DOMAIN

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Integers = npt.NDArray[np.int64]

PACKAGE = "tilewright_integer_dialect"
INTEGERS = (DType.I8, DType.U8, DType.I16, DType.U16, DType.I32)


def signature(
    op_type: str, attributes: str, convert: Callable[[OnnxNode, Conversion], None], inputs: int = 1, lists: str = ""
) -> Import:
    """The node that `writing` makes: attributes are whole numbers, or lists of them."""
    kinds = {**dict.fromkeys(attributes.split(), "INT"), **dict.fromkeys(lists.split(), "INTS")}
    return Import(
        op_type=op_type, domain=DOMAIN, since=1, attributes=kinds, convert=convert, min_inputs=inputs, max_inputs=inputs
    )


def taken_as(op: str, *words: str) -> Callable[[OnnxNode, Conversion], None]:
    """An import that hands the attributes `words` on."""

    def convert(node: OnnxNode, graph: Conversion) -> None:
        graph.emit(node, op, node.inputs, node.outputs, {word: node.integer(word) for word in words})

    return convert


def like_x(dtype: DType | None = None) -> Callable[[Site], tuple[Tensor, ...]]:
    """A result of X's shape and this type."""
    return lambda site: (
        Tensor(name=site.node.outputs[0], dtype=dtype or limited_dtype(site), shape=site.input(0).shape),
    )


def limited_dtype(site: Site) -> DType:
    """The smallest type that holds the attributes `low` to `high`."""
    low, high = site.node.integer("low"), site.node.integer("high")
    fitting = (dtype for dtype in (DType.I8, DType.U8) if dtype.limits[0] <= low and high <= dtype.limits[1])
    return next(fitting, DType.I32)


def all_elements(site: Site) -> Access:
    """Each element by itself."""
    return parse_map(": X[...] -> Y[...]").bind({"X": site.input(0).shape, "Y": site.output.shape})


def rows(site: Site, names: Sequence[str] = ()) -> Access:
    """Whole rows along the last axis, and operands `names` that have one row."""
    loops = [f"i{axis}" for axis in range(len(site.input(0).shape) - 1)]
    place = ",".join((*loops, ":"))
    others = "".join(f" {name}[:]" for name in names)
    shapes = {"X": site.input(0).shape, "Y": site.output.shape}
    shapes.update((name, site.input(index).shape) for index, name in enumerate(names, 1))
    return parse_map(f"{' '.join(loops)} : X[{place}]{others} -> Y[{place}]").bind(shapes)


def broadcast_access(site: Site) -> Access:
    """Elements of A and B, broadcast to Y as ONNX does it."""
    shape = site.output.shape
    loops = [f"i{axis}" for axis in range(len(shape))]

    def place(operand: tuple[int, ...]) -> str:
        missing = len(shape) - len(operand)
        return ",".join("0" if extent == 1 else loops[missing + axis] for axis, extent in enumerate(operand))

    a, b = site.input(0).shape, site.input(1).shape
    text = f"{' '.join(loops)} : A[{place(a)}] B[{place(b)}] -> Y[{','.join(loops)}]"
    return parse_map(text).bind({"A": a, "B": b, "Y": shape})


def not_integers(site: Site) -> str | None:
    """Why X is of no type that the portable C takes, or None."""
    dtype = site.input(0).dtype
    return None if dtype in INTEGERS else f"X is {dtype.value}; integers of at most 32 bits are computed"


def row_values(call: Call, names: Sequence[str] = ()) -> dict[str, object]:
    """One call for each row: outer loops as text, and the steps along the row."""
    x, y = call.operands["X"], call.operands["Y"]
    outer = nest(walk(y.extents[:-1], {"X": x.strides[:-1], "Y": y.strides[:-1]}, "Y"), 0)
    steps = {f"{name.lower()}_step": call.operands[name].strides[-1] for name in ("X", "Y", *names)}
    return {**c_types(call), **steps, "nest": outer.headers, "at": outer.offsets, "count": x.extents[-1]}


def c_types(call: Call) -> dict[str, object]:
    """The C types of X and Y, and the end of a function's name that says them."""
    x, y = call.operands["X"].dtype, call.operands["Y"].dtype
    return {"x_type": x.c_type, "y_type": y.c_type, "types": f"{x.value}_{y.value}"}


def element_values(call: Call, steps: Mapping[str, Sequence[int]]) -> dict[str, object]:
    """One call for the innermost loop: `steps` has those of every operand, Y's among them."""
    loops = walk(call.operands["Y"].extents, steps, "Y")
    outer = nest(loops, 1)
    inner = {f"{name.lower()}_step": moves[-1] for name, moves in loops.steps.items()}
    return {**inner, "nest": outer.headers, "at": outer.offsets, "count": loops.extents[-1]}


def same_places(call: Call) -> dict[str, object]:
    """The same where X has the shape of Y."""
    return element_values(call, {name: call.operands[name].strides for name in ("X", "Y")})


def source(file: str) -> tuple[FragmentTemplate, ...]:
    """C in a file of this package, named as the function that it defines."""
    return (template_file(PACKAGE, f"c_code/{file}", "${function}"),)


NEST = """\
% for line in nest:
${line}
% endfor
"""
