"""Knows what operators of signals have in common: signatures, maps, the words of C that a call hands over.
Does not know any operator.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tilewright.api.graph import Attribute, DType, Site, Tensor
from tilewright.api.kernel import Call, FragmentTemplate, Kernel, elementwise_walk, nest, template_file
from tilewright.api.operator import Access, Conversion, Import, OnnxNode, Operator, parse_map

DOMAIN = "tilewright.signal"
PACKAGE = "tilewright_tflite"
NEST = """\
% for line in nest:
${line}
% endfor
"""


def operator(
    name: str,
    inputs: Sequence[str],
    outputs: Sequence[tuple[str, DType | None]],
    summary: str,
    reference: Callable[[Site, Sequence[Any]], tuple[Any, ...]],
    words: Sequence[str] = (),
    *,
    access: Callable[[Site], Access],
    shapes: Callable[[Site], Sequence[tuple[int, ...]]] | None = None,
    tolerance: Callable[[Site, Sequence[Any]], tuple[Any, ...]] | None = None,
) -> Operator:
    """`signal.NAME`, with `words` for its attributes, all whole numbers. Without `shapes`, results are shaped as X;
    one without a type has that of X.
    """

    def infer(site: Site) -> tuple[Tensor, ...]:
        result = shapes(site) if shapes else [site.input(0).shape] * len(outputs)
        made = zip(site.node.outputs, outputs, result, strict=True)
        return tuple(
            Tensor(name=value, dtype=dtype or site.input(0).dtype, shape=shape) for value, (_, dtype), shape in made
        )

    signature = _signature(name, words, len(inputs))
    return Operator(
        name=f"signal.{name}",
        inputs=tuple(inputs),
        outputs=tuple(each for each, _ in outputs),
        summary=summary,
        infer=infer,
        reference=reference,
        access=access,
        tolerance=tolerance,
        imports=(signature,),
    )


def _signature(name: str, words: Sequence[str], inputs: int) -> Import:
    """The node that the importer writes, with all that it reads and all of its attributes."""

    def convert(node: OnnxNode, graph: Conversion) -> None:
        attributes: Mapping[str, Attribute] = {word: node.integer(word) for word in words}
        graph.emit(node, f"signal.{name}", node.inputs, node.outputs, attributes)

    return Import(
        op_type=name,
        domain=DOMAIN,
        since=1,
        attributes=dict.fromkeys(words, "INT"),
        convert=convert,
        min_inputs=inputs,
        max_inputs=inputs,
    )


def whole(inputs: str, outputs: str) -> Callable[[Site], Access]:
    """A map in which every result is made of all elements of all inputs; operands have their axes, as in maps."""

    def access(site: Site) -> Access:
        names = [text.partition("[")[0] for text in f"{inputs} {outputs}".split()]
        tensors = [*site.inputs, *site.outputs]
        return parse_map(f": {inputs} -> {outputs}").bind(
            {name: tensor.shape for name, tensor in zip(names, tensors, strict=True) if tensor is not None}
        )

    return access


def elements(last: str = "") -> Callable[[Site], Access]:
    """A map of elements, in which the operand `last` is read by the place along the last axis."""

    def access(site: Site) -> Access:
        loops = [f"i{axis}" for axis in range(len(site.input(0).shape))]
        place = ",".join(loops)
        shapes = {"X": site.input(0).shape, "Y": site.output.shape}
        if last:
            shapes[last] = site.input(1).shape
        more = f" {last}[{loops[-1]}]" if last else ""
        return parse_map(f"{' '.join(loops)} : X[{place}]{more} -> Y[{place}]").bind(shapes)

    return access


def kernel(
    op: Operator,
    call: str,
    *,
    words: Sequence[str] = (),
    values: Callable[[Call], Mapping[str, object]] = lambda call: {},
    elementwise: bool = False,
    in_place: bool = False,
    shared: str = "",
) -> Kernel:
    """Portable C in `c_code/`, in a file that is called as the function that it has is, without `tw_signal_`. With
    `shared` functions, of the file of this name, both have a form for each of `kind_of(call)`.

    `call` has its arguments. It sees the attributes `words`, for each operand the step along its last axis, `count`
    elements of X along its last axis, and of what is computed element by element the loops around that.
    """
    name = op.name.removeprefix("signal.").lower()
    form = "_${kind}" if shared else ""
    function = f"tw_signal_{name}{form}"

    def code(file: str, needs: tuple[FragmentTemplate, ...] = ()) -> FragmentTemplate:
        return template_file(PACKAGE, f"signals/c_code/{file}.c.mako", f"tw_signal_{file}{form}", needs)

    def found(one: Call) -> Mapping[str, object]:
        numbers = {word: one.site.node.integer(word) for word in words}
        return {**numbers, **(_loops(one) if elementwise else _steps(one)), **values(one)}

    return Kernel(
        name=op.name.lower(),
        op=op.name,
        parallel=("*",) if elementwise else (),
        in_place=lambda site: (("X", "Y"),) if in_place else (),
        values=found,
        source=(code(name, (code(shared),) if shared else ()),),
        call=f"{NEST if elementwise else ''}{function}({call});",
    )


def kind_of(call: Call) -> dict[str, object]:
    """The kind of numbers of X: in names, their type in C, that of what is computed, and the bits of a fraction."""
    dtype = call.site.input(0).dtype
    part, bits = {DType.I16: ("int32_t", 15), DType.I32: ("int32_t", 31), DType.F32: ("float", 0)}[dtype]
    return {"kind": dtype.value, "type": dtype.c_type, "part": part, "bits": bits}


def _steps(call: Call) -> dict[str, object]:
    steps = {f"{name.lower()}_step": part.strides[-1] for name, part in call.operands.items() if part.strides}
    return {**steps, "count": call.operands["X"].extents[-1]}


def _loops(call: Call) -> dict[str, object]:
    loops = elementwise_walk(call.operands, "Y", [name for name in call.operands if name != "Y"])
    outer = nest(loops, 1)
    inner = {f"{name.lower()}_step": moves[-1] for name, moves in loops.steps.items()}
    return {**inner, "nest": outer.headers, "at": outer.offsets, "count": loops.extents[-1]}
