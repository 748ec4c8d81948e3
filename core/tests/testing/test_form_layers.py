"""Layers into forms and out of them are each other's inverse, and padding occurs in all but one."""

from __future__ import annotations

import numpy as np

from tilewright.ir.graphs.evaluation import results
from tilewright.testing.form_layers import FORMS, form_layers
from tilewright.testing.one_step import vocabulary
from tilewright.testing.operator_sites import site_of


def test_out_of_a_form_is_what_went_in() -> None:
    layers = {layer.name: layer for layer in form_layers(np.random.default_rng(0))}
    padded = set()
    for kind in (kind.replace(" ", "_") for kind in FORMS):
        into, out = layers[f"ToStored_{kind}"], layers[f"FromStored_{kind}"]
        (stored,) = results(
            vocabulary()["ToStored"], site_of(vocabulary()["ToStored"], into.inputs, into.attributes), into.inputs
        )
        np.testing.assert_array_equal(stored, out.inputs[0])
        site = site_of(vocabulary()["FromStored"], [stored], out.attributes)
        np.testing.assert_array_equal(results(vocabulary()["FromStored"], site, [stored])[0], into.inputs[0])
        padded |= {kind} if stored.size > into.inputs[0].size else set()  # type: ignore[union-attr]
    assert padded == {"groups", "rows", "pixel_rows"}
