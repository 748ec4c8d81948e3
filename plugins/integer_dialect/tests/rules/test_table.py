"""Every operator that is recognised has a rule."""

from __future__ import annotations

from tilewright_integer_dialect.recognition import OWN, SHARED
from tilewright_integer_dialect.rules.table import RULES


def test_whatever_is_recognised_has_a_rule() -> None:
    assert RULES.keys() >= OWN | SHARED
