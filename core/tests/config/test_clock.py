"""Frequencies, as they are typed and as they are shown."""

from __future__ import annotations

import pytest

from tilewright.config.clock import clock_text, parse_clock
from tilewright.errors import TilewrightError


@pytest.mark.parametrize(
    ("text", "hertz", "shown"),
    [
        ("80MHz", 80_000_000, "80 MHz"),
        ("1.2 ghz", 1_200_000_000, "1.2 GHz"),
        ("32768Hz", 32_768, "32.768 kHz"),
        ("64000000", 64_000_000, "64 MHz"),
        ("999Hz", 999, "999 Hz"),
    ],
)
def test_clocks(text: str, hertz: int, shown: str) -> None:
    assert (parse_clock(text), clock_text(hertz)) == (hertz, shown)


@pytest.mark.parametrize("text", ["", "MHz", "-1MHz", "0", "0.5Hz", "80M", "1e6", "fast"])
def test_what_is_no_clock(text: str) -> None:
    with pytest.raises(TilewrightError, match="TW1101"):
        parse_clock(text)


@pytest.mark.parametrize("text", ["80", " 480 ", "1.5", "1000", "9999"])
def test_a_number_alone_that_is_too_small_is_asked_about(text: str) -> None:
    with pytest.raises(TilewrightError, match=f"is {text.strip()} MHz meant") as caught:
        parse_clock(text)
    assert caught.value.code == "TW1101"
    assert [step.split()[1] for step in caught.value.fix] == [f"{text.strip()}MHz", f"{text.strip()}Hz"]
    assert parse_clock(f"{text}MHz") == float(text) * 1e6
    assert parse_clock("10000") == 10_000
