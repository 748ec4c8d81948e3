"""C into forms and out of them equals the references, whole, in tiles, in any layouts; padding is as it is said."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tilewright.ir.graphs.stored_sites import stored_attributes
from tilewright.ir.tensors.stored_form import Form, Groups, Rows, Stored, StoredValue
from tilewright.testing.kernels.kernel_faults import kernel_faults
from tilewright.testing.one_step import portable_kernels, vocabulary
from tilewright.testing.operator_sites import site_of

FORMS: list[tuple[Form, tuple[int, ...]]] = [
    (Groups(axis=1, size=16), (1, 20, 4, 3)),
    (Groups(axis=1, size=16), (2, 5, 4)),
    (Groups(axis=1, size=4), (2, 12, 3, 2)),
    (Groups(axis=0, size=8), (13,)),
    (Rows(axes=(3, 1), multiple_bytes=16), (1, 3, 4, 7)),
    (Rows(axes=(2,), multiple_bytes=4), (3, 5, 9)),
    (Rows(axes=(0,), multiple_bytes=8), (8,)),
]


@pytest.mark.parametrize(("form", "shape"), FORMS)
@pytest.mark.parametrize("fill", [-3, None])
def test_they_are_right(tmp_path: Path, form: Form, shape: tuple[int, ...], fill: int | None) -> None:
    array = np.random.default_rng(3).integers(-128, 128, shape).astype(np.int8)
    value = StoredValue(stored=Stored(form=form, fill=fill), shape=shape)
    for op, kernel, operand, given in (
        ("ToStored", "portable.to_stored", "Y", array),
        ("FromStored", "portable.from_stored", "X", value.put(array, 99)),
    ):
        site = site_of(vocabulary()[op], [given], stored_attributes({operand: value}))
        assert kernel_faults(vocabulary()[op], portable_kernels()[kernel], site, [given], folder=tmp_path) == []
