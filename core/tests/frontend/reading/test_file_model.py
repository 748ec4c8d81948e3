"""What nodes and bodies of a file read, names of their own aside."""

from __future__ import annotations

from tilewright.frontend.reading.file_model import (
    FileAttribute,
    FileGraph,
    FileNode,
    FileTensor,
    FileValue,
    free_names,
    reads,
)


def node(inputs: str, outputs: str, *bodies: object) -> FileNode:
    attributes = tuple(FileAttribute(name=f"a{place}", kind="GRAPH", value=body) for place, body in enumerate(bodies))
    return FileNode(
        name="n", op_type="Any", domain="", overload="", version=17, inputs=tuple(inputs.split(",")),
        outputs=tuple(outputs.split(",")), attributes=attributes,
    )  # fmt: skip


def body(*nodes: FileNode, inputs: str = "", outputs: str = "", constants: str = "") -> FileGraph:
    return FileGraph(
        name="b", nodes=nodes, values=(),
        inputs=tuple(FileValue(name=name, kind="tensor_type") for name in inputs.split()),
        outputs=tuple(FileValue(name=name, kind="tensor_type") for name in outputs.split()),
        initializers=tuple(FileTensor(name=name, data_type=1, dims=()) for name in constants.split()),
    )  # fmt: skip


def test_bodies_of_a_node() -> None:
    one, two, three = (body(outputs=name) for name in "abc")
    found = node("x", "y", one, 5, (two, three), (1, 2), "text")
    assert list(found.graphs()) == [one, two, three]


def test_what_a_body_has_is_not_free() -> None:
    inside = body(node("i,c,x", "t"), node("t,,z", "u"), inputs="i", outputs="u w", constants="c")
    assert free_names(inside) == {"x", "z", "w"}


def test_bodies_inside_bodies() -> None:
    """The inner body's own names stay inside, and what it takes from the middle one is not free outside."""
    inner = body(node("k,m,o", "r"), inputs="k", outputs="r")
    middle = body(node("p", "m"), node("", "q", inner), outputs="q")
    assert free_names(middle) == {"p", "o"}


def test_reads_once_in_order() -> None:
    inside = body(node("z,b,x", "t"), outputs="t")
    assert reads(node("x,,a,x", "y", inside)) == ("x", "a", "b", "z")
