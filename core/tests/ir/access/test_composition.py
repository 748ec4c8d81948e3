"""Two kernels as one read what the second reads of what the first reads, tile by tile, and say so as a map."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilewright.ir.access.composition import composed
from tilewright.ir.access.index_map import MapAccess, parse_map
from tilewright.testing.operator_sites import window_errors

CONV = parse_map("o h w c y x : X[c,h*s+y-1?,w*s+x-1?] W[o,c,y,x] -> Y[o,h,w]").bind(
    {"Y": (4, 5, 6), "X": (3, 10, 12), "W": (4, 3, 3, 3)}, {"s": 2}
)
ADD = parse_map("i j k : A[i,j,k] B[i,j,k] -> C[i,j,k]")


def joined(first: MapAccess, then: str, shapes: Mapping[str, Sequence[int]], between: str = "A") -> MapAccess:
    access = parse_map(then).bind(shapes)
    return composed(first, access, between, {name: f"b_{name}" for name in (*access.inputs, *access.outputs)})


def test_loops_of_the_second_become_what_the_first_writes() -> None:
    access = joined(CONV, ADD.text, {"C": (4, 5, 6), "A": (4, 5, 6), "B": (4, 5, 6)})
    assert access.text == "o<4 h<5 w<6 c<3 y<3 x<3 : X[c,2*h+y-1?,2*w+x-1?] W[o,c,y,x] b_B[o,h,w] -> b_C[o,h,w]"
    assert [loop.kind for loop in access.loops] == ["parallel"] * 3 + ["reduce"] * 3


def test_what_it_says_is_a_map() -> None:
    access = joined(CONV, "i j k : A[i,j,k] B[i,j//2] -> C[k,j,i]", {"C": (6, 5, 4), "A": (4, 5, 6), "B": (4, 3)})
    shapes = {name: [axis.extent for axis in axes] for name, axes in access.axes.items()}
    again = parse_map(access.text).bind(shapes)
    assert (again.loops, again.axes, again.outputs) == (access.loops, access.axes, access.outputs)


@given(st.data())
def test_every_tile_reads_what_its_points_read(data: st.DataObject) -> None:
    access = joined(CONV, "i j k : A[i,j,k] B[k,i] -> C[k,j,i]", {"C": (6, 5, 4), "A": (4, 5, 6), "B": (6, 4)})
    box = {}
    for loop in access.loops:
        low = data.draw(st.integers(0, loop.extent - 1))
        box[loop.name] = (low, data.draw(st.integers(low + 1, loop.extent)))
    assert window_errors(access, box) == []


def test_an_axis_that_the_second_takes_whole_ends_loops_of_the_first() -> None:
    product_of = parse_map("m n k : A[m,k] B[k,n] -> C[m,n]").bind({"A": (6, 5), "B": (5, 7), "C": (6, 7)})
    access = joined(product_of, "r : A[r,:] -> Y[r,:]", {"A": (6, 7), "Y": (6, 7)})
    assert access.text == "m<6 k<5 : A[m,k] B[k,:] -> b_Y[m,:]"


def test_an_axis_that_the_first_writes_whole_ends_loops_of_the_second() -> None:
    rows = parse_map("r : X[r,:] -> Y[r,:]").bind({"X": (6, 5), "Y": (6, 5)})
    access = joined(rows, "m n k : A[m,k] B[k,n] -> C[m,n]", {"A": (6, 5), "B": (5, 7), "C": (6, 7)})
    assert access.text == "r<6 n<7 : X[r,:] b_B[:,n] -> b_C[r,n]"
    assert [loop.kind for loop in access.loops] == ["parallel", "parallel"]


def test_loops_of_one_name_are_told_apart() -> None:
    first = parse_map("i k : X[i,k] -> Y[i]").bind({"X": (6, 5), "Y": (6,)})
    access = joined(first, "k i : A[k] B[i] -> C[k,i]", {"A": (6,), "B": (3,), "C": (6, 3)})
    assert access.text == "i<6 k<5 i_<3 : X[i,k] b_B[i_] -> b_C[i,i_]"


@pytest.mark.parametrize(
    ("first", "then", "shapes", "reason"),
    [
        ("i j : X[i,j] -> Y[i,j]", "i : A[i,i] -> C[i]", {"A": (4, 4), "C": (4,)}, "share the loop"),
        ("i j : X[i,j] -> Y[i,j]", "i j : A[i+j,0] -> C[i,j]", {"A": (4, 4), "C": (2, 3)}, "not read element"),
        ("~i j : X[i,j] -> Y[i,j]", "i j : A[i,j] -> C[i,j]", {"A": (4, 4), "C": (4, 4)}, "in order"),
        ("i j : X[i,j-1?] -> Y[i,j]", "i : A[i,:] -> C[i,:]", {"A": (4, 4), "C": (4, 4)}, "with padding"),
        ("i j<2 : X[i,j] -> Y[i,2*j+1]", "i : A[i,:] -> C[i]", {"A": (4, 4), "C": (4,)}, "not written element"),
        ("i : X[i,:] -> Y[i,:]", "i j : A[i,j] -> C[i,2*j+1]", {"A": (4, 4), "C": (4, 8)}, "ends inside the kernel"),
    ],
)  # fmt: skip
def test_what_no_map_says_is_refused(first: str, then: str, shapes: Mapping[str, Sequence[int]], reason: str) -> None:
    access = parse_map(first).bind({"X": (4, 4), "Y": (4, 4)})
    with pytest.raises(ValueError, match=reason):
        joined(access, then, shapes)
