"""Labels show the telling end of a name, and never leave their box."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilewright.report.drawing.labels import CHARACTER, LINE, label, shortened


def test_the_end_of_a_path_is_kept() -> None:
    assert shortened("/block/conv/Conv_output_0", 40) == "block/conv/Conv_output_0"
    assert shortened("/block/conv/Conv_output_0", 18) == "conv/Conv_output_0"
    assert shortened("/block/conv/Conv_output_0", 8) == "Conv_ou…"
    assert shortened("a/first;b/second", 20) == "a/first"


def test_narrow_boxes_are_written_upright() -> None:
    assert "rotate" in "".join(label("activation", 100, (0, 0, 20, 200)))
    assert "rotate" not in "".join(label("activation", 100, (0, 0, 200, 20)))


@pytest.mark.parametrize("place", [(0.0, 0.0, 10.0, 10.0), (0.0, 0.0, 300.0, 12.0)])
def test_what_does_not_fit_is_left_out(place: tuple[float, float, float, float]) -> None:
    assert not list(label("activation", 100, place))


@given(st.text(min_size=1, max_size=60), st.integers(0, 1 << 20), st.floats(1, 400), st.floats(1, 400))
def test_no_line_is_longer_than_its_box(name: str, size: int, width: float, height: float) -> None:
    written = list(label(name, size, (0.0, 0.0, width, height)))
    longest = max(width, height)
    for line in written:
        text = re.sub(r"&\w+;", "?", line.split(">", 1)[1].rsplit("</text>", 1)[0])
        assert len(text) * CHARACTER <= longest
    assert len(written) * LINE <= longest
