"""An input that is bound is a constant: no other flag can take it for an input."""

from __future__ import annotations

import pytest

from tilewright.config.bound_inputs import bound_inputs
from tilewright.config.options import Options
from tilewright.errors import TilewrightError


@pytest.mark.parametrize(
    ("options", "flag"),
    [
        (Options(bind={"h": "0"}, states=("y:h",)), "--state y:h"),
        (Options(bind={"h": "0"}, states=("y:h=0.5",)), "--state y:h=0.5"),
        (Options(bind={"h": "0"}, io_of={"h": "user"}), "--io h=user"),
        (Options(bind={"h": "0"}, io_type_of={"h": "int8"}), "--io-type h=int8"),
    ],
)
def test_flags_that_take_it_for_an_input_are_named(options: Options, flag: str) -> None:
    with pytest.raises(TilewrightError, match="TW1226") as refused:
        bound_inputs(options)
    assert refused.value.details == (f"{flag} takes it for an input",)


def test_flags_about_others_are_left_alone() -> None:
    options = Options(bind={"h": "0"}, states=("h:c", "y:high"), io_of={"x": "user"})
    assert bound_inputs(options) == {"h": "0"}
