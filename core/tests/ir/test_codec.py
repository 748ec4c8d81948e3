"""Values become JSON and come back equal; what does not fit its type hint is refused with its path."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.ir.codec import Codec, Json, Reference
from tilewright.ir.graphs.graph import Attribute, Node
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.region import (
    Copy,
    Cut,
    FlattenedRows,
    Hop,
    InternalValue,
    LineBuffer,
    LineBuffers,
    Region,
    RepeatedCalls,
    SplitReduction,
    Stripes,
    Tiles,
    Whole,
)
from tilewright.ir.tensors.dtypes import DType
from tilewright.ir.tensors.requant import Requant


def _no(data: object) -> Any:
    raise ValueError("no arrays here")


CODEC = Codec(put=_no, get=_no)


def _round(value: object, hint: Any = None) -> object:
    text = json.dumps(CODEC.encode(value, hint or type(value)), allow_nan=False)
    return CODEC.decode(json.loads(text), hint or type(value))


REQUANT = st.builds(
    Requant,
    scale=st.lists(st.floats(width=32, allow_nan=False), min_size=1, max_size=3).map(tuple),
    zero_point=st.integers(-128, 255),
    low=st.integers(-128, 0),
    high=st.integers(0, 255),
)
ATTRIBUTE: st.SearchStrategy[Attribute] = st.one_of(
    st.integers(),
    st.floats(allow_nan=False),
    st.text(),
    REQUANT,
    st.lists(st.integers()).map(tuple),
    st.lists(st.floats(allow_nan=False)).map(tuple),
    st.lists(st.text()).map(tuple),
)
NODES = st.builds(
    Node,
    name=st.text(),
    op=st.text(),
    inputs=st.lists(st.text()).map(tuple),
    outputs=st.lists(st.text()).map(tuple),
    attributes=st.dictionaries(st.text(), ATTRIBUTE),
    origin=st.lists(st.text()).map(tuple),
)
COPIES = st.builds(Copy, level=st.integers(0, 3), buffers=st.integers(1, 2), window=st.sampled_from(["box", "rolling"]))
HOPS = st.builds(
    Hop,
    outer=st.text(),
    inner=st.text(),
    nest=st.lists(st.builds(Cut, st.text(), st.integers())).map(tuple),
    copies=st.dictionaries(st.text(), COPIES),
)
HELD = st.builds(
    InternalValue,
    memory=st.text(),
    form=st.sampled_from(["whole", "recomputed", "rolling"]),
    live_out=st.booleans(),
)
SUMS = st.builds(
    SplitReduction,
    loops=st.lists(st.text()).map(tuple),
    dtype=st.sampled_from([DType.I32, DType.F32]),
    in_output=st.booleans(),
)
ROWS = st.builds(
    LineBuffers,
    loops=st.lists(st.text()).map(tuple),
    extents=st.lists(st.integers()).map(tuple),
    call_schedule=st.lists(st.builds(RepeatedCalls, st.lists(st.integers()).map(tuple), st.integers())).map(tuple),
    buffers=st.dictionaries(
        st.text(), st.builds(LineBuffer, rows=st.integers(), aliases=st.text(), distance_bytes=st.integers())
    ),
    flattened=st.dictionaries(st.text(), st.builds(FlattenedRows, runs=st.integers(), length=st.integers())),
    backward=st.booleans(),
)
TILES = st.builds(
    Region,
    steps=st.lists(st.text(), min_size=1, max_size=2).map(tuple),
    schedule=st.one_of(st.just(Whole()), st.builds(Tiles, hops=st.lists(HOPS, max_size=2).map(tuple)), ROWS),
    internal_values=st.dictionaries(st.text(), HELD),
    sums=st.dictionaries(st.text(), SUMS),
    resident=st.dictionaries(st.text(), st.text()),
)
DECISIONS = st.builds(
    Decisions,
    kernels=st.dictionaries(st.text(), st.text()),
    layouts=st.dictionaries(st.text(), st.permutations(range(3)).map(tuple)),
    order=st.lists(st.text()).map(tuple),
    groups=st.lists(st.lists(st.text()).map(tuple)).map(tuple),
    tiles=st.dictionaries(st.text(), TILES, max_size=2),
    offsets=st.dictionaries(st.text(), st.integers(0)),
    allocator=st.text(),
)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(NODES)
def test_nodes_round_trip(node: Node) -> None:
    again = _round(node)
    assert again == node
    assert isinstance(again, Node)
    assert {k: type(v) for k, v in again.attributes.items()} == {k: type(v) for k, v in node.attributes.items()}


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(DECISIONS)
def test_decisions_round_trip(decisions: Decisions) -> None:
    assert _round(decisions) == decisions


@dataclass(frozen=True, slots=True, kw_only=True)
class _Everything:
    number: float = 0.0
    flag: bool = False
    maybe: int | None = None
    kind: Literal["a", "b"] = "a"
    dtype: DType = DType.I8
    pair: tuple[str, int] = ("", 0)
    nested: Mapping[str, tuple[int, ...]] = field(default_factory=dict)


@pytest.mark.parametrize(
    "value",
    [
        _Everything(),
        _Everything(number=math.inf, flag=True, maybe=3, kind="b", dtype=DType.F32, pair=("x", 1), nested={"k": (1,)}),
        _Everything(number=-math.inf, nested={"type": ()}),
    ],
)
def test_every_kind_of_field_round_trips(value: _Everything) -> None:
    assert _round(value) == value


def test_a_region_in_stripes_round_trips() -> None:
    stripes = Stripes(loops=("w", "w"), bounds=(((0, 5), (0, 4)), ((3, 8), (4, 8))))
    rows = LineBuffers(loops=("h", "h"), extents=(1, 1), call_schedule=(RepeatedCalls((0, 1), 2),), stripes=stripes)
    region = Region(steps=("a", "b"), schedule=rows)
    assert _round(region) == region
    kept = replace(region, schedule=replace(rows, stripes=replace(stripes, edges=(2, 0))))
    assert _round(kept) == kept


def test_nan_and_numpy_scalars_become_plain_numbers() -> None:
    again = _round(_Everything(number=math.nan))
    assert isinstance(again, _Everything)
    assert math.isnan(again.number)
    assert _round(_Everything(number=np.float32(0.1))) == _Everything(number=float(np.float32(0.1)))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"number": "x"}, "number: 'x' is not a number"),
        ({"flag": 1}, "flag: 1 is not true or false"),
        ({"maybe": 1.5}, "maybe"),
        ({"kind": "c"}, "kind: 'c' is not one of a, b"),
        ({"dtype": "i9"}, "dtype"),
        ({"dtype": []}, "dtype"),
        ({"kind": {}}, "kind"),
        ({"pair": ["x"]}, "pair"),
        ({"pair": ["x", True]}, "pair[1]: True is not an integer"),
        ({"nested": {"k": [1, "2"]}}, "nested.k[1]: '2' is not an integer"),
        ({"nested": []}, "nested"),
        ({"stranger": 1}, "'stranger' is not a field of _Everything"),
        ([], "the value: [] is not a _Everything"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_path(data: Json, words: str) -> None:
    with pytest.raises(ValueError) as caught:
        CODEC.decode(data, _Everything)
    assert words in str(caught.value)


def test_a_missing_field_without_default_is_refused() -> None:
    with pytest.raises(ValueError, match="field level"):
        CODEC.decode({}, Copy)


def test_a_reference_is_written_by_name_and_found_again() -> None:
    kernel = Kernel(name="k", op="Clip")

    @dataclass(frozen=True)
    class Holder:
        kernel: Kernel

    codec = Codec(
        put=_no, get=_no, references={Kernel: Reference(lambda v: v.name, lambda data: {"k": kernel}[str(data)])}
    )
    Holder.__annotations__["kernel"] = Kernel  # a local class: its hints are not looked up in this function
    data = codec.encode(Holder(kernel=kernel), Holder)
    assert data == {"kernel": "k"}
    assert codec.decode(data, Holder).kernel is kernel


def test_arrays_go_through_put_and_get() -> None:
    store: list[Any] = []

    @dataclass(frozen=True)
    class Holder:
        array: Any

    import numpy.typing as npt

    Holder.__annotations__["array"] = npt.NDArray[np.generic]

    def put(array: Any) -> Json:
        store.append(array)
        return len(store) - 1

    codec = Codec(put=put, get=lambda data: store[int(str(data))])
    array = np.arange(3)
    assert codec.decode(codec.encode(Holder(array=array), Holder), Holder).array is array


def test_what_is_no_data_is_our_mistake() -> None:
    with pytest.raises(TypeError):
        CODEC.encode(_Everything(number=object()), _Everything)
