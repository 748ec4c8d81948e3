"""Tables of wait states: clocks that rise, what they hold for, and what is wrong with others."""

from __future__ import annotations

import pytest

from tilewright.config.toml_table import TomlTable
from tilewright.config.wait_state_tables import flash_waits_of
from tilewright.errors import TilewrightError
from tilewright.ir.machines.flash_waits import FlashWaits


def table(**changed: object) -> TomlTable:
    values = {"parts": ["a*"], "up_to": ["30MHz", "60MHz"], "condition": "3.3 V", **changed}
    return TomlTable("a.toml", "wait_states number 1,", values)


def test_one_is_read() -> None:
    assert flash_waits_of(table(divider=2, width_bits=64)) == FlashWaits(
        up_to_hz=(30_000_000, 60_000_000), condition="3.3 V", divider=2, width_bits=64
    )
    assert flash_waits_of(table()).width_bits is None


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("up_to", []),
        ("up_to", ["30MHz", "30MHz"]),
        ("up_to", ["60MHz", "30MHz"]),
        ("up_to", ["fast"]),
        ("up_to", [30]),
        ("condition", ""),
        ("divider", 0),
        ("divider", True),
        ("width", 128),
        ("width_bits", 48),
        ("width_bits", True),
    ],
)
def test_a_wrong_one_is_refused_with_its_key(key: str, value: object) -> None:
    with pytest.raises(TilewrightError) as caught:
        flash_waits_of(table(**{key: value}))
    assert caught.value.where == f"a.toml, wait_states number 1, key '{key}'"
