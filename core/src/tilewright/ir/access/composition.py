"""Knows the index map of two kernels of which the second reads what the first writes, computed as one. Does not know
what they compute, nor that there are operators.

    o h w c y x : X[c,h+y,w+x] W[o,c,y,x] -> Y[o,h,w]    and    i j k : Y[i,j,k] B[i,j,k] -> Z[i,j,k]
    o h w c y x : X[c,h+y,w+x] W[o,c,y,x] B[o,h,w] -> Z[o,h,w]

A loop of the second that indexes the value between them becomes what the first writes there. Where one of them
takes an axis of that value whole, the other's loop over it ends inside the kernel, and so does what it indexes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tilewright.ir.access.index import Axis, Index, Term, bare_loop, folded, mentions, scaled
from tilewright.ir.access.index_map import Kind, Loop, MapAccess

Becomes = Mapping[str, Index | None]  # loop -> its index in other loops; None: it ends inside the kernel


def composed(first: MapAccess, then: MapAccess, between: str, names: Mapping[str, str]) -> MapAccess:
    """`then` after `first`, whose only output it reads as its operand `between`; its other operands get new `names`.

    Raises ValueError, with the reason, where no index map says it.
    """
    if any(loop.kind == "sequential" for loop in (*first.loops, *then.loops)):
        raise ValueError("loops that run in order are not computed as one")
    then = _apart(then, [loop.name for loop in first.loops])
    (written,) = first.outputs
    becomes = _unified(first.axes[written], then.axes[between])
    axes = {name: first.axes[name] for name in first.inputs}
    axes |= {names[name]: then.axes[name] for name in (*then.inputs, *then.outputs) if name != between}
    replaced = {name: tuple(_replaced(axis, becomes, name) for axis in group) for name, group in axes.items()}
    outputs = tuple(names[name] for name in then.outputs)
    if any(
        axis.index is not None and (loop := _ended(axis, becomes)) and loop != bare_loop(axis)
        for name in then.outputs
        for axis in then.axes[name]
    ):
        raise ValueError("an axis of what is written has a loop that ends inside the kernel")
    loops = tuple(
        replace(loop, kind=_kind(loop.name, replaced, outputs))
        for loop in (*first.loops, *then.loops)
        if loop.name not in becomes
    )
    inputs = tuple(name for name in replaced if name not in outputs)
    return MapAccess(
        text=_text(loops, inputs, outputs, replaced), loops=loops, inputs=inputs, outputs=outputs, axes=replaced
    )


def _apart(access: MapAccess, taken: list[str]) -> MapAccess:
    """The same with names of loops that are not `taken`."""
    new: dict[str, str] = {}
    for loop in access.loops:
        name = loop.name
        while name in taken or name in new.values():
            name += "_"
        new[loop.name] = name
    becomes: Becomes = {old: Index((Term(1, name),)) for old, name in new.items()}
    return replace(
        access,
        loops=tuple(replace(loop, name=new[loop.name]) for loop in access.loops),
        axes={name: tuple(_replaced(axis, becomes, name) for axis in group) for name, group in access.axes.items()},
    )


def _unified(written: tuple[Axis, ...], read: tuple[Axis, ...]) -> dict[str, Index | None]:
    """What loops become so that the element read is the element written."""
    becomes: dict[str, Index | None] = {}
    for position, (source, sink) in enumerate(zip(written, read, strict=True)):
        own, other = bare_loop(sink), bare_loop(source)
        if sink.padded or (sink.index is not None and not own):
            raise ValueError(f"axis {position} of the value between them is not read element by element")
        if own in becomes:
            raise ValueError(f"axes of the value between them share the loop {own}")
        if own:
            becomes[own] = source.index
        elif other:
            becomes[other] = None
        elif source.index is not None and source.index.terms:
            raise ValueError(f"axis {position} of the value between them is not written element by element")
    return becomes


def _replaced(axis: Axis, becomes: Becomes, operand: str) -> Axis:
    if axis.index is None or not any(mentions(axis.index, loop) for loop in becomes):
        return axis
    if not _ended(axis, becomes):
        return Axis(_substituted(axis.index, becomes), axis.extent, axis.padded)
    if axis.padded:
        raise ValueError(f"an axis of {operand} with padding is needed whole")
    return Axis(None, axis.extent)


def _ended(axis: Axis, becomes: Becomes) -> str:
    """A loop of the axis that ends inside the kernel; empty where there is none."""
    return next((loop for loop, index in becomes.items() if index is None and mentions(axis.index, loop)), "")


def _substituted(index: Index, becomes: Becomes) -> Index:
    terms: list[Term] = []
    offset = index.offset
    for term in index.terms:
        inner = _atom(term, becomes)
        part = scaled(inner, term.coefficient)
        terms.extend(part.terms)
        offset += part.offset
    return Index(tuple(terms), offset)


def _atom(term: Term, becomes: Becomes) -> Index:
    """A term without its coefficient."""
    if term.inner is not None:
        return folded(_substituted(term.inner, becomes), term.operation or "%", term.by)
    return becomes.get(term.loop) or Index((Term(1, term.loop),))


def _kind(loop: str, axes: Mapping[str, tuple[Axis, ...]], outputs: tuple[str, ...]) -> Kind:
    everywhere = all(any(mentions(axis.index, loop) for axis in axes[output]) for output in outputs)
    return "parallel" if everywhere else "reduce"


def _text(
    loops: tuple[Loop, ...],
    inputs: tuple[str, ...],
    outputs: tuple[str, ...],
    axes: Mapping[str, tuple[Axis, ...]],
) -> str:
    """The map as it would be written, every number filled in."""

    def operands(names: tuple[str, ...]) -> str:
        return " ".join(f"{name}[{','.join(map(_axis_text, axes[name]))}]" for name in names)

    head = " ".join(f"{loop.name}<{loop.extent}" for loop in loops)
    return f"{head} : {operands(inputs)} -> {operands(outputs)}"


def _axis_text(axis: Axis) -> str:
    if axis.index is None:
        return ":"
    return _index_text(axis.index) + ("?" if axis.padded else "")


def _index_text(index: Index) -> str:
    parts = [f"{term.coefficient}*{_atom_text(term)}".removeprefix("1*") for term in index.terms]
    return "+".join([*parts, str(index.offset)] if index.offset or not parts else parts).replace("+-", "-")


def _atom_text(term: Term) -> str:
    if term.inner is None:
        return term.loop
    inner = _index_text(term.inner)
    if term.operation == "clamp":
        return f"clamp({inner},{term.by[0]},{term.by[1]})"
    return f"(({inner}){term.operation}{term.by[0]})"
