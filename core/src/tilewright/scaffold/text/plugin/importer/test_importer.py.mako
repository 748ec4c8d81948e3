"""Files that the importer reads: what they compute, and what is refused."""

import pytest
import tilewright

STEER = b"""${macro} 1
input frame 2
dense 1 0 0  0 1 0  1 1 -1
smooth
"""


def test_a_file_is_compiled_and_right():
    assert tilewright.compile(STEER, "generic", name="steer").validate(on="host").passed


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (STEER.replace(b"smooth", b"lstm 3"), "TW2101"),
        (STEER.replace(b"1 1 -1", b"1 1"), "TW1202"),
        (STEER.replace(b"frame 2", b"frame two"), "TW1202"),
    ],
)
def test_what_cannot_be_taken_is_refused_with_a_reason(content, code):
    with pytest.raises(tilewright.TilewrightError) as caught:
        tilewright.compile(content, "generic", name="steer")
    assert caught.value.code == code
