"""All refusals of a model as one error, which names what else can be done."""

from __future__ import annotations

import pytest

from tilewright.frontend.refusals import RefusedAt, refusal_error


def refused(*signatures: str) -> str:
    items = [RefusedAt(signature=one, node="n", shapes="f32 1", reason="no package knows this") for one in signatures]
    return str(refusal_error(items, 9))


@pytest.mark.parametrize("signature", ["ConvInteger-10", "MatMulInteger-10", "com.microsoft:DynamicQuantizeLSTM-1"])
def test_what_is_quantised_while_it_runs_is_sent_to_samples(signature: str) -> None:
    text = refused("Det-11", signature)
    assert "  try:  tilewright quantize --help     quantises the float network with samples" in text
    assert "`quantize_dynamic`" in text


def test_other_networks_are_not() -> None:
    assert "quantize" not in refused("Det-11")
