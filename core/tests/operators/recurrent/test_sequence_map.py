"""Sequences are independent of each other; within one, everything depends on all that comes in."""

from __future__ import annotations

import pytest

from tilewright.operators.recurrent.sequence_map import sequence_map
from tilewright.testing.one_step import vocabulary
from tilewright.testing.operator_layers import every_layer
from tilewright.testing.operator_sites import site_of


@pytest.mark.parametrize("name", ["LSTMSteps", "GRUSteps", "RNNSteps", "QLSTM", "QGRU"])
def test_every_recurrence_is_cut_along_its_sequences_alone(name: str) -> None:
    layer = next(layer for layer in every_layer() if layer.op == name)
    site = site_of(vocabulary()[name], layer.inputs, layer.attributes, layer.constants)
    access = vocabulary()[name].access(site)
    assert [loop.name for loop in access.loops] == ["b"]


def test_states_and_outputs_have_places_of_their_own() -> None:
    layer = next(layer for layer in every_layer() if layer.op == "RNNSteps")
    site = site_of(vocabulary()["RNNSteps"], layer.inputs, layer.attributes, layer.constants)
    inputs = vocabulary()["RNNSteps"].inputs
    with pytest.raises(KeyError):  # an input that is no state needs its text
        sequence_map(site, inputs, ("Y_h", "Y"), {})
