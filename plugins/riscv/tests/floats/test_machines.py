"""What machines share: which sites are floats, constants as C, and trips of loops."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tilewright.api.graph import DType, Node, Site, Tensor
from tilewright_riscv.floats.machines import c_float, not_floats, trips


@given(st.floats(width=64))
@example(3.5e38)
@example(-1e300)
def test_constants_are_the_float32(value: float) -> None:
    with np.errstate(over="ignore"):
        expected = float(np.float32(value))
    text = c_float(value)
    if math.isnan(expected):
        assert text == "(float)NAN"
    elif math.isinf(expected):
        assert text == ("INFINITY" if value > 0 else "-INFINITY")
    else:
        assert float.fromhex(text.removesuffix("f")) == expected and text.endswith("f")


def site(*forms: tuple[DType, tuple[int, ...]] | None) -> Site:
    tensors = [None if form is None else Tensor(name="t", dtype=form[0], shape=form[1]) for form in forms]
    return Site(
        node=Node(name="n", op="Any", inputs=("t",) * (len(forms) - 1), outputs=("t",)), inputs=tuple(tensors[:-1]),
        outputs=tuple(tensor for tensor in tensors[-1:] if tensor), constants={},
    )  # fmt: skip


@pytest.mark.parametrize(("given", "reason"), [
    (site((DType.F32, (2,)), None, (DType.F32, (2,))), None),
    (site((DType.F32, (2,)), (DType.F32, (2,))), None),
    (site((DType.F16, (2,)), (DType.F32, (2,))), "values must be f32, found f16"),
    (site((DType.F32, (2,)), (DType.I8, (2,))), "values must be f32, found i8"),
    (site((DType.F32, (2, 0)), (DType.F32, (0,))), "has no elements"),
])  # fmt: skip
def test_what_kernels_of_floats_take(given: Site, reason: str | None) -> None:
    assert not_floats(given) == reason


def test_trips_of_all_loops() -> None:
    tile: Any = SimpleNamespace(box={"a": (2, 5), "b": (0, 4)})
    assert trips(tile) == 12 and trips(SimpleNamespace(box={})) == 1  # type: ignore[arg-type]
