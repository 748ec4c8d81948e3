"""`--slide INPUT[AXIS]=HOP`: what it means, and what cannot be."""

from __future__ import annotations

import pytest

from tilewright.config.sliding import Sliding, other_slide, sliding_of
from tilewright.errors import Exit, TilewrightError
from tilewright.ir.graphs.graph import Graph
from tilewright.ir.tensors.dtypes import DType
from tilewright.testing.one_step import vocabulary
from tilewright.testing.sketch import Sketch


def network() -> Graph:
    sketch = Sketch(operators=vocabulary())
    return sketch.finish(sketch.node("Sigmoid", (sketch.input("x[0]", DType.F32, (1, 4, 9)),)))


def test_an_axis_counts_from_either_end() -> None:
    assert sliding_of("x[0][2]=3", network()) == Sliding(input="x[0]", axis=2, hop=3)
    assert sliding_of("x[0][-1]=3", network()) == Sliding(input="x[0]", axis=2, hop=3)


@pytest.mark.parametrize(
    ("text", "why", "fix"),
    [
        ("x[0]", "cannot be read", "--slide 'x[0][1]=1'"),
        ("x=2", "cannot be read", "--slide 'x[0][1]=1'"),
        ("y[2]=1", "no input 'y'", "--slide 'x[0][1]=1'"),
        ("x[0][3]=1", "3 axes", "--slide 'x[0][1]=1'"),
        ("x[0][2]=9", "cannot move on by 9", "1 to 8"),
        ("x[0][2]=0", "cannot move on by 0", "--slide 'x[0][2]=1'"),
    ],
)
def test_what_cannot_be(text: str, why: str, fix: str) -> None:
    with pytest.raises(TilewrightError) as raised:
        sliding_of(text, network())
    assert (raised.value.code, raised.value.exit_code) == ("TW1128", Exit.USAGE)
    assert why in raised.value.message
    assert fix in raised.value.fix[0]


def test_a_saved_graph_takes_what_it_takes() -> None:
    assert list(other_slide("", network())) == list(other_slide("x[0][2]=9", network())) == []
    assert len(list(other_slide("x[0][2]=3", network()))) == len(list(other_slide("y[2]=3", network()))) == 1
