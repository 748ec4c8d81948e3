"""What machines share: which sites are floats, and trips of loops."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tilewright.api.graph import DType, Node, Site, Tensor
from tilewright_riscv.floats.machines import not_floats, trips


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
