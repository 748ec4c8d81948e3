"""Knows layers that bring values into forms with padding, and back: channels in groups, rows of a pitch. Does not know
kernels that have such forms.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import MappingProxyType
from typing import TYPE_CHECKING

from tilewright.ir.graphs.stored_sites import stored_attributes
from tilewright.ir.tensors.stored_form import Form, Groups, Rows, Stored, StoredValue
from tilewright.testing.operator_sites import Sample

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np

FORMS: Mapping[str, Form] = MappingProxyType(
    {
        "groups": Groups(axis=1, size=8),
        "whole groups": Groups(axis=1, size=4),
        "rows": Rows(axes=(3,), multiple_bytes=16),
        "pixel rows": Rows(axes=(3, 1), multiple_bytes=64),
    }
)


def form_layers(numbers: np.random.Generator) -> Iterator[Sample]:
    """Of an image of 20 channels, 11 wide."""
    image = numbers.standard_normal((2, 20, 9, 11)).astype("float32")
    for kind, form in FORMS.items():
        value = StoredValue(stored=Stored(form=form, fill=0.5), shape=image.shape)
        yield Sample(op="ToStored", kind=kind, inputs=(image,), attributes=stored_attributes({"Y": value}))
        yield Sample(op="FromStored", kind=kind, inputs=(value.put(image),), attributes=stored_attributes({"X": value}))
