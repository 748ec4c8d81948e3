"""Forms say what is stored, put values there and take them back, and know where padding is."""

from __future__ import annotations

import numpy as np
import pytest

from tilewright.ir.tensors.stored_form import Form, Groups, Rows, Stored, StoredValue

IMAGE = np.arange(2 * 20 * 3 * 5, dtype=np.int16).reshape(2, 20, 3, 5)
FORMS: list[tuple[Form, tuple[int, ...]]] = [
    (Groups(axis=1, size=16), (2, 2, 3, 5, 16)),
    (Groups(axis=1, size=10), (2, 2, 3, 5, 10)),
    (Groups(axis=3, size=4), (2, 20, 3, 2, 4)),
    (Rows(axes=(3,), multiple_bytes=16), (2, 20, 3, 8)),
    (Rows(axes=(3, 1), multiple_bytes=64), (2, 3, 128)),
    (Rows(axes=(3,), multiple_bytes=5), (2, 20, 3, 5)),  # 10 bytes are elements, and a multiple
    (Rows(axes=(3,), multiple_bytes=3), (2, 20, 3, 6)),
]


@pytest.mark.parametrize(("form", "shape"), FORMS)
def test_what_is_stored_holds_the_value_and_padding(form: Form, shape: tuple[int, ...]) -> None:
    value = StoredValue(stored=Stored(form=form, fill=-7), shape=IMAGE.shape)
    stored = value.put(IMAGE)
    assert stored.shape == form.shape(IMAGE.shape, 2) == shape
    np.testing.assert_array_equal(value.take(stored), IMAGE)
    mask = value.padding(2)
    assert int(mask.sum()) == stored.size - IMAGE.size
    assert (stored[mask] == -7).all()
    assert sorted(stored[~mask]) == sorted(IMAGE.reshape(-1))


def test_a_channel_is_beside_the_next_and_a_pixel_too() -> None:
    groups = Groups(axis=1, size=16).store(IMAGE, 0, 2)
    np.testing.assert_array_equal(groups[1, 1, 2, 3, :4], IMAGE[1, 16:, 2, 3])
    rows = Rows(axes=(3, 1), multiple_bytes=64).store(IMAGE, 0, 2)
    np.testing.assert_array_equal(rows[1, 2, 20:40], IMAGE[1, :, 2, 1])


@pytest.mark.parametrize(
    ("form", "reason"),
    [
        (Groups(axis=4, size=16), "there is no axis 4"),
        (Groups(axis=1, size=1), "groups of 1 are none"),
        (Rows(axes=(3, 3), multiple_bytes=4), "[3, 3] are no axes of a row"),
        (Rows(axes=(3, 5), multiple_bytes=4), "there is no axis 5"),
        (Rows(axes=(3,), multiple_bytes=0), "there are no multiples of 0 B"),
        (Groups(axis=1, size=16), ""),
        (Rows(axes=(3, 1), multiple_bytes=16), ""),
    ],
)
def test_what_is_no_form_of_a_value_is_said(form: Form, reason: str) -> None:
    assert form.fault(IMAGE.shape) == reason


def test_padding_serves_who_wants_the_same_or_nothing() -> None:
    form = Groups(axis=1, size=16)
    seven, anything = Stored(form=form, fill=7), Stored(form=form)
    assert seven.serves(anything) and seven.serves(seven) and anything.serves(anything)
    assert not anything.serves(seven) and not seven.serves(Stored(form=form, fill=8))
    assert not seven.serves(Stored(form=Groups(axis=1, size=8)))
    assert (str(seven), str(anything)) == (
        "axis 1 in groups of 16, padding 7",
        "axis 1 in groups of 16, padding anything",
    )
