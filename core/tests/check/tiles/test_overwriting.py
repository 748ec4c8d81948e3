"""Bytes of the backing memory that are read after others have taken them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tilewright.ir.plans.region import Copy, Cut
from tilewright.ir.plans.stages import Storage


def in_place(checked: Any, offset_bytes: int = 0) -> tuple[str, ...]:
    """The faults where the output is in the bytes of the input."""
    tiled = checked.tiled
    storage = {**tiled.scheduled.storage, "c:0": Storage(buffer="x", offset_bytes=offset_bytes)}
    buffers = tuple(replace(one, size_bytes=1024) if one.name == "x" else one for one in tiled.buffers)
    found: tuple[str, ...] = checked.faults(
        replace(tiled, scheduled=replace(tiled.scheduled, storage=storage), buffers=buffers)
    )
    return found


STORED = "group 'c': X is read where Y has been stored"


def test_rows_above_the_next_tile_are_gone(pools: Any) -> None:
    assert in_place(pools) == (STORED,)


def test_of_two_cuts_both_say_when_a_tile_is_computed(pools: Any) -> None:
    """Rows inside channels: the row above the next tile is gone. Channels inside rows: it is, too."""
    deep = {"a_X": Copy(level=2), "c_Y": Copy(level=2)}
    for nest in ((Cut("c", 1), Cut("h", 3)), (Cut("h", 3), Cut("c", 1))):
        assert in_place(pools.with_hop(nest=nest).with_copies(**deep)) == (STORED,)
    whole = pools.with_hop(nest=(Cut("c", 1), Cut("h", 3)))
    assert in_place(whole.with_copies(a_X=Copy(level=1), c_Y=Copy(level=2))) == (), "a channel at once"


def test_what_was_fetched_before_is_not_needed_any_more(pools: Any) -> None:
    """All of the input at once; or all of the output at the end; or channel by channel, which nothing reads twice."""
    assert in_place(pools.with_copies(a_X=Copy(level=0))) == ()
    assert in_place(pools.with_copies(c_Y=Copy(level=0))) == ()
    assert in_place(pools.with_hop(nest=(Cut("c", 1),))) == ()


@pytest.mark.parametrize(("offset_bytes", "sound"), [(0, False), (128, False), (252, False), (256, True)])
def test_only_bytes_that_are_shared_count(pools: Any, offset_bytes: int, sound: bool) -> None:
    """The first rows of the output are stored before the last ones of the input are fetched."""
    assert (in_place(pools, offset_bytes=offset_bytes) == ()) is sound


def test_a_rolling_window_reads_each_row_once(pools: Any) -> None:
    """A tile fetches rows up to two below those that it stores."""
    assert in_place(pools.with_copies(a_X=Copy(level=1, window="rolling"))) == ()
