"""Options have defaults for everything, and cannot be changed once made."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields, replace

import pytest

from tilewright.config.options import Options
from tilewright.ir.plans.decisions import Decisions


def test_nothing_has_to_be_asked_for() -> None:
    plain = Options()
    assert plain == Options()
    assert (plain.allocator, plain.tiler, plain.buffering, plain.optimize) == ("auto", "auto", "auto", "speed")
    assert (plain.io_inputs, plain.io_outputs, plain.emit, plain.pins) == ("pool", "pool", ("cmake",), Decisions())
    assert plain.groups is None and plain.clock_hz is None


def test_every_option_can_be_asked_for_and_says_so() -> None:
    for one in fields(Options):
        changed = replace(Options(), **{one.name: "other"})
        assert changed != Options(), one.name


def test_defaults_are_shared_by_nobody() -> None:
    assert Options().memory is not Options().memory
    with pytest.raises(FrozenInstanceError):
        Options().seed = 1
