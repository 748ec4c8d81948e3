"""Every limit that the initialisers of a file exceed is said at once."""

from __future__ import annotations

import re

import numpy as np
import pytest
from onnx import helper

from small_models import model
from tilewright.errors import TilewrightError
from tilewright.frontend.load import load
from tilewright.frontend.reading.import_options import ImportOptions, Limits, limits_with
from tilewright.testing.one_step import vocabulary

MIB = 1 << 20
SUMS = model(
    *(helper.make_node("Add", ["x", f"c{at}"], [f"y{at}"]) for at in range(3)),
    inputs={"x": (1,)},
    outputs=("y0", "y1", "y2"),
    constants={f"c{at}": np.ones((at + 1) * MIB // 4, np.float32) for at in range(3)},
).SerializeToString()


@pytest.mark.parametrize("limits", [Limits(tensor_bytes=MIB, constant_bytes=4 * MIB), Limits(constant_bytes=MIB)])
def test_what_is_to_be_typed_does(limits: Limits) -> None:
    """Three constants of 1, 2 and 3 MiB: the first that is too large would be the second."""
    with pytest.raises(TilewrightError, match="TW1203") as caught:
        load(SUMS, ImportOptions(limits=limits), vocabulary())
    typed = dict(re.findall(r"--limit (\w+)=(\d+)M", caught.value.fix[0]))
    assert set(typed) == ({"tensor", "constants"} if limits.tensor_bytes == MIB else {"constants"})
    raised = limits_with({name: int(amount) * MIB for name, amount in typed.items()}, limits)
    assert len(load(SUMS, ImportOptions(limits=raised), vocabulary()).graph.constants) == 3


def test_a_file_that_is_too_large_names_what_may_be_in_the_way_next() -> None:
    limits = Limits(file_bytes=MIB, constant_bytes=2 * MIB, tensor_bytes=MIB)
    with pytest.raises(TilewrightError, match="TW1203") as caught:
        load(SUMS, ImportOptions(limits=limits), vocabulary())
    typed = dict(re.findall(r"--limit (\w+)=(\d+)M", caught.value.fix[0]))
    assert typed == dict.fromkeys(("file", "constants", "tensor"), "7")
